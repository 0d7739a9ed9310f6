// Accesses out of bounds, one kernel each, at lines that the tests know.
#include <cuda_runtime.h>

__global__ void read_past(const float *x, float *y, int n) {
  int i = threadIdx.x;
  __syncthreads();
  y[i % n] = x[i];  // READ
}
extern "C" void read(const float *x, float *y, int n) { read_past<<<1, 64>>>(x, y, n); }

__global__ void write_past(float *y, int n) {
  y[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;  // WRITE
}
extern "C" void write(const float *x, float *y, int n) { write_past<<<4, 32>>>(y, n); }

__global__ void shared_past(float *y, int n) {
  __shared__ float s[32], after[32];
  s[threadIdx.x + n] = 1.0f;  // SHARED
  after[threadIdx.x] = 0.0f;
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x] + after[threadIdx.x];
}
extern "C" void shared(const float *x, float *y, int n) { shared_past<<<1, 32>>>(y, n); }

__global__ void dynamic_past(float *y, int n) {
  extern __shared__ float s[];
  s[threadIdx.x] = 1.0f;  // DYNAMIC
  y[threadIdx.x] = s[threadIdx.x];
}
extern "C" void dynamic(const float *x, float *y, int n) {
  dynamic_past<<<1, 32, 30 * sizeof(float)>>>(y, n);
}

__device__ float many_frames(float *y, int depth) {
  float local[16];
  for (int i = 0; i < 16; ++i) local[i] = y[0] + i;
  if (depth > 0) local[depth % 16] += many_frames(y, depth - 1);
  __syncwarp();
  return local[depth % 16] + local[3];
}
__global__ void deep(float *y, int n) {
  float v = many_frames(y, 100);
  __syncthreads();
  y[threadIdx.x] = v * 0 + 1;
}
__global__ void trap_in_depth(float *y, int depth) {
  float local[16];
  local[depth % 16] = y[0];
  __syncthreads();
  if (threadIdx.x == 7) __trap();
  __syncthreads();
  y[0] = local[depth % 16];
}
// In bounds throughout: no report, also after threads were left halfway.
extern "C" int cudacpu_take_error(char *, size_t) __attribute__((weak));
extern "C" void clean(const float *x, float *y, int n) {
  for (int i = 0; i < 3; ++i) deep<<<8, n>>>(y, n);
  trap_in_depth<<<4, n>>>(y, 5);
  if (cudacpu_take_error) cudacpu_take_error(nullptr, 0);
  deep<<<8, n>>>(y, n);
}

__global__ void local_past(float *y, int n) {
  float local[8];
  for (int i = 0; i < 8; ++i) local[i] = y[i];
  __syncthreads();
  y[0] = local[n];  // LOCAL
}
extern "C" void local(const float *x, float *y, int n) { local_past<<<1, 32>>>(y, n); }

extern "C" void freed(const float *x, float *y, int n) {
  float *p;
  cudaMalloc(&p, n * sizeof(float));
  write_past<<<1, 32>>>(p, n);  // one too many for n = 31: a heap overflow
  cudaFree(p);
}
