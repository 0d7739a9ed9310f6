// Kernels and functions with the names of others: libm's, libc's, host functions'.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace std;

#define KERNEL(name)                                                              \
  __global__ void name(const float* x, float* y, int n) {                         \
    int i = threadIdx.x;                                                          \
    if (i < n) y[i] = 2 * x[i];                                                   \
  }                                                                               \
  extern "C" void run_##name(const float* x, float* y, int n) {                   \
    name<<<1, 64>>>(x, y, n);                                                     \
  }

#define KERNELS(X)                                                                               \
  X(abs) X(acos) X(atan2) X(bzero) X(ceil) X(copy) X(cos) X(count) X(div) X(erf) X(exp) X(exp2)  \
  X(fabs) X(fill) X(floor) X(fma) X(fmax) X(fmin) X(fmod) X(frexp) X(free) X(hypot) X(index)     \
  X(isnan) X(j0) X(labs) X(lgamma) X(log) X(log1p) X(log2) X(lround) X(max) X(memset) X(min)     \
  X(perror) X(pow) X(qsort) X(read) X(reduce) X(remainder) X(remove) X(rename) X(rint) X(round)  \
  X(rsqrt) X(scalbn) X(signal) X(sin) X(sincos) X(sqrt) X(srand) X(swap) X(tan) X(tanh) X(tgamma) \
  X(time) X(transform) X(trunc) X(write) X(y0) X(y1)
KERNELS(KERNEL)

// Without arguments, with one, and with those that must be converted once.
__device__ float kept[4];
__global__ void srandom() { kept[threadIdx.x] = threadIdx.x; }
__global__ void sinh(float* x) { x[threadIdx.x] = -x[threadIdx.x]; }
__global__ void cosh(double scale, float* x, long long n) {
  if (threadIdx.x < n) x[threadIdx.x] *= scale;
}

extern "C" void few_arguments(float* x, int n) {
  srandom<<<1, 4>>>();
  sinh<<<1, n>>>(x);
  cosh<<<1, 32>>>(3, x, n);
}

// A host function that calls the kernel of its name, and a device function of the same.
__global__ void relu(const float* x, float* y, int n) {
  int i = threadIdx.x;
  if (i < n) y[i] = max(x[i], 0.0f);
}
__device__ void relu(float* x) { *x = tanhf(*x) > 0 ? *x : 0; }
void relu(const float* x, float* y, int n, int threads) { relu<<<1, threads>>>(x, y, n); }
extern "C" void run_relu(const float* x, float* y, int n) { relu(x, y, n, 64); }

// Device functions whose names are libm's with other parameters, beside libm's own.
__device__ float4 exp(float4 v) { return make_float4(exp(v.x), expf(v.y), ::exp(v.z), std::exp(v.w)); }
__device__ float y0(float a, float b) { return a * 2 + b; }
__global__ void use(float* x) {
  float4 v = exp(make_float4(0, 0, 0, 0));
  x[threadIdx.x] = y0(v.x, v.y) + v.z + v.w + sqrt(4) + std::max(1, 2) + std::min(2.5f, 3.0f);
}
extern "C" void functions(float* x) { use<<<1, 4>>>(x); }
