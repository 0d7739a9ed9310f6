// How kernels are written: qualifiers, launches in all their forms, shared memory, symbols.
#include <cassert>
#include <cstdio>
#include <cuda_runtime.h>
#include <device_launch_parameters.h>

namespace tools {
template <typename T, int N>
__global__ void scale(T *x, T by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * by + N;
}
template <typename T> struct Pair { T a; T b; };
template <int N> struct Width { static constexpr int value = N; };
__host__ __device__ constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
}  // namespace tools

__constant__ float table[4];
__device__ int counter = 5;
__device__ __noinline__ float twice(float x) { return 2 * x; }
static __device__ __forceinline__ float thrice(float x) { return 3 * x; }

struct Square {
  __host__ __device__ float operator()(float x) const { return x * x; }
};

template <class F> __global__ void apply(float *x, int n, F f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = f(x[i]);
}

__global__ void __launch_bounds__(64) add_default(float *x, int n, float by = 0.5f);
__global__ void __launch_bounds__(64) add_default(float *x, int n, float by) {
  if (threadIdx.x < n) x[threadIdx.x] += by;
}

__global__ void with_null(float *x, const float *maybe, size_t n) {
  if (threadIdx.x < n && maybe == nullptr) x[threadIdx.x] += twice(thrice(1.0f));
}

__global__ void with_struct(float *x, tools::Pair<float> p) { x[threadIdx.x] = p.a + p.b; }

#define CHECK(call)                                          \
  do {                                                       \
    call;                                                    \
    if (cudaGetLastError() != cudaSuccess) printf("bad\n");  \
  } while (0)
#define LAUNCH(kernel, grid, block, ...) kernel<<<grid, block>>>(__VA_ARGS__)

// Not launches: "k<<<1, 1>>>()" and 'a' and R"(k<<<2, 2>>>(x);)" in a comment.
extern "C" const char *not_a_launch() { return "k<<<1, 1>>>(x) /* // */ \" __shared__ "; }
extern "C" const char *raw_string() { return R"x(k<<<1,
 1>>>() )" asm("") )x"; }

extern "C" void launches(float *x, int n) {
  const int threads = 32;
  tools::scale<float, 1><<<tools::ceil_div(n, threads), threads>>>(x, 2.0f, n);
  tools::scale<float, tools::Width<2>::value>
      <<<dim3(tools::ceil_div(n, threads), 1),
         dim3(threads)  /* a comment, with a comma */,
         0, // and another: >>>
         cudaStream_t(0)>>>(
          x,
          1.0f,
          n);
  apply<<<(n + 31) / 32, 32>>>(x, n, Square());
  float offset = 3.0f;
  apply<<<(n + 31) / 32, 32>>>(x, n, [=] __device__(float v) { return v + offset; });
  CHECK((add_default<<<1, 64>>>(x, n)));
  LAUNCH(add_default, 1, 64, x, n, 1.5f);
  with_null<<<1, tools::Width<64>::value>>>(x, NULL, n);
  if (n > 1000) with_struct<<<1, 1>>>(x, {1, 2});
  else with_struct<<<1, 1>>>(x, {10, 20});
  void (*chosen)(float *, float, int) = n > 3 ? tools::scale<float, 0> : tools::scale<float, 7>;
  chosen<<<1, 1>>>(x, 2.0f, 1);
}

// ---- shared memory -------------------------------------------------------------------------

extern __shared__ float dynamic_at_file_scope[];

__global__ void reverse_file_scope(float *x) {
  dynamic_at_file_scope[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = dynamic_at_file_scope[blockDim.x - 1 - threadIdx.x];
}

template <typename T> __global__ void reverse_dynamic(T *x) {
  extern __shared__ __align__(16) unsigned char raw[];
  T *s = reinterpret_cast<T *>(raw);
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

template <int N> __global__ void forms(float *x) {
  __shared__ float plain[N], other[N + 1][2];
  static __shared__ int single;
  volatile __shared__ float old_style[N];
  __shared__ __align__(16) float4 vectors[N / 4];
  __shared__ tools::Pair<float> pairs[N];
  __shared__ union { float f[N]; int i[N]; } mixed;
  __shared__ alignas(16) float more[N];
  const int t = threadIdx.x;
  if (t == 0) single = 7;
  plain[t] = x[t];
  other[t][1] = x[t] + 1;
  old_style[t] = x[t];
  pairs[t].b = x[t];
  mixed.f[t] = x[t];
  more[t] = x[t];
  reinterpret_cast<float *>(vectors)[t] = x[t];
  __syncthreads();
  const int o = N - 1 - t;
  float4 v = vectors[o / 4];
  const float parts[4] = {v.x, v.y, v.z, v.w};
  static_assert(sizeof(plain) == N * sizeof(float), "an array, not a pointer");
  x[t] = plain[o] + other[o][1] + old_style[o] + pairs[o].b + mixed.f[o] + more[o] + parts[o % 4] +
         single;
}

__global__ void uninitialised(float *x) {
  __shared__ float s[32];
  x[threadIdx.x] = s[threadIdx.x];
}

extern "C" void shared_forms(float *x, double *d) {
  reverse_file_scope<<<1, 32, 32 * sizeof(float)>>>(x);
  reverse_dynamic<<<1, 32, 32 * sizeof(double)>>>(d);
  forms<32><<<1, 32>>>(x + 32);
  forms<64><<<1, 64>>>(x + 64);
  uninitialised<<<1, 32>>>(x + 128);
}

// ---- symbols, printf, blocks ---------------------------------------------------------------

__global__ void from_symbols(float *x) {
  x[threadIdx.x] = table[threadIdx.x] + atomicAdd(&counter, 0);
  assert(blockDim.x == 4);
}

extern "C" int symbols(float *x) {
  const float values[4] = {1, 2, 3, 4};
  const int nine = 9;
  int back = 0;
  cudaMemcpyToSymbol(table, values, sizeof values);
  cudaMemcpyToSymbol(counter, &nine, sizeof nine, 0, cudaMemcpyHostToDevice);
  from_symbols<<<1, 4>>>(x);
  cudaMemcpyFromSymbol(&back, counter, sizeof back);
  return back;
}

__global__ void coordinates(int *out) {
  int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[block * (blockDim.x * blockDim.y * blockDim.z) + thread] += 1 + thread + 1000 * block;
}

extern "C" void every_thread_once(int *out) { coordinates<<<dim3(3, 5, 7), dim3(4, 3, 5)>>>(out); }

__global__ void local_array(float *x, int depth) {
  float big[2048];
  for (int i = 0; i < 2048; ++i) big[i] = x[0] + i;
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 2048; i += depth) sum += big[i];
  x[1 + threadIdx.x] = sum;
}
extern "C" void big_locals(float *x) { local_array<<<1, 256>>>(x, 1024); }
