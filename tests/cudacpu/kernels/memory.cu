// Atomics, and the host API.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void add_all(int *i, unsigned *u, unsigned long long *l, float *f, double *d, half *h,
                        __half2 *h2, __nv_bfloat16 *b) {
  atomicAdd(i, 1);
  atomicAdd(u, 2u);
  atomicAdd(l, 3ull);
  atomicAdd(f, 1);
  atomicAdd(d, 0.5);
  if (threadIdx.x == 0) {
    atomicAdd(h, __float2half(1.0f));
    atomicAdd(h2, __floats2half2_rn(1.0f, 2.0f));
    atomicAdd(b, __float2bfloat16(1.0f));
  }
}

extern "C" void adds(int *i, unsigned *u, unsigned long long *l, float *f, double *d, half *h,
                     __half2 *h2, __nv_bfloat16 *b) {
  add_all<<<100, 256>>>(i, u, l, f, d, h, h2, b);
}

__global__ void other_atomics(int *a, unsigned *u) {
  int t = threadIdx.x;
  atomicSub(&a[0], 2);
  atomicMin(&a[1], t - 5);
  atomicMax(&a[2], t);
  atomicAnd(&a[3], ~(1 << (t % 4)));
  atomicOr(&a[4], 1 << (t % 8));
  atomicXor(&a[5], t);
  atomicExch(&a[6], t >= 0 ? 42 : 0);
  atomicInc(&u[0], 9);
  atomicDec(&u[1], 9);
  atomicAdd_block(&a[7], 1);
  atomicMax_system(&u[2], (unsigned)t);
}

extern "C" void others(int *a, unsigned *u) { other_atomics<<<1, 64>>>(a, u); }

__device__ int lock_word = 0;

// One thread at a time, across blocks and within them.
__global__ void locked(int *plain) {
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock_word, 0, 1) == 0) {
      __threadfence();
      *plain = *plain + 1;
      __threadfence();
      atomicExch(&lock_word, 0);
      done = true;
    }
  }
}

extern "C" void lock(int *plain) { locked<<<64, 64>>>(plain); }

__global__ void histogram(const unsigned char *x, int n, unsigned *bins) {
  __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[x[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], local[i]);
}

extern "C" void count_bytes(const unsigned char *x, int n, unsigned *bins) {
  histogram<<<20, 128>>>(x, n, bins);
}

__global__ void loads(const float4 *__restrict__ x, float4 *y) {
  y[threadIdx.x] = __ldg(&x[threadIdx.x]);
  __stcs(&y[threadIdx.x], __ldcg(&x[threadIdx.x]));
}

#define STEP(condition) do { if (!(condition)) return __LINE__; } while (0)

// Returns the line of the first step that went wrong, 0 for none.
extern "C" int api(float *x, int n) {
  float *a = nullptr, *b = nullptr, *m = nullptr;
  const size_t bytes = n * sizeof(float);
  cudaStream_t stream;
  cudaEvent_t start, stop;
  STEP(cudaMalloc(&a, bytes) == cudaSuccess && a);
  STEP(cudaMalloc((void **)&b, bytes) == cudaSuccess && b);
  STEP(cudaMallocManaged(&m, bytes) == cudaSuccess && m);
  STEP(a[0] != a[0]);
  STEP(cudaStreamCreate(&stream) == cudaSuccess);
  STEP(cudaEventCreate(&start) == cudaSuccess && cudaEventCreate(&stop) == cudaSuccess);
  STEP(cudaEventRecord(start, stream) == cudaSuccess);
  STEP(cudaMemcpyAsync(a, x, bytes, cudaMemcpyHostToDevice, stream) == cudaSuccess);
  loads<<<1, n / 4, 0, stream>>>((const float4 *)a, (float4 *)b);
  STEP(cudaMemcpy(m, b, bytes, cudaMemcpyDeviceToDevice) == cudaSuccess);
  STEP(cudaMemset(a, 0, bytes) == cudaSuccess && a[n - 1] == 0);
  STEP(cudaEventRecord(stop, stream) == cudaSuccess);
  STEP(cudaEventSynchronize(stop) == cudaSuccess);
  float ms = -1;
  STEP(cudaEventElapsedTime(&ms, start, stop) == cudaSuccess && ms >= 0 && ms < 10000);
  for (int i = 0; i < n; ++i) STEP(m[i] == x[i]);
  cudaDeviceProp prop;
  int device = -1, value = 0, blocks = 0;
  STEP(cudaGetDevice(&device) == cudaSuccess && device == 0);
  STEP(cudaGetDeviceProperties(&prop, device) == cudaSuccess && prop.warpSize == 32);
  STEP(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess);
  STEP(value == prop.multiProcessorCount);
  STEP(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, loads, 256, 0) == cudaSuccess);
  STEP(blocks == 8);
  void *none = (void *)1;
  STEP(cudaMalloc(&none, ~size_t(0) / 2) == cudaErrorMemoryAllocation);
  STEP(cudaPeekAtLastError() == cudaErrorMemoryAllocation);
  STEP(cudaGetLastError() == cudaErrorMemoryAllocation && cudaGetLastError() == cudaSuccess);
  const float4 *source = (const float4 *)x;
  float4 *target = (float4 *)b;
  void *arguments[] = {&source, &target};
  STEP(cudaLaunchKernel(loads, dim3(1), dim3(n / 4), arguments, 0, stream) == cudaSuccess);
  STEP(b[n - 1] == x[n - 1]);
  STEP(cudaFree(a) == cudaSuccess && cudaFree(b) == cudaSuccess && cudaFree(m) == cudaSuccess);
  STEP(cudaFree(nullptr) == cudaSuccess);
  STEP(cudaStreamSynchronize(stream) == cudaSuccess && cudaStreamDestroy(stream) == cudaSuccess);
  STEP(cudaEventDestroy(start) == cudaSuccess && cudaEventDestroy(stop) == cudaSuccess);
  return 0;
}
