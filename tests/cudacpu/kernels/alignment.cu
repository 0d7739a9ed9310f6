// Accesses at addresses that may not be a multiple of their size: `n` floats after one that is.
#include <cuda_fp16.h>

__global__ void load_kernel(const float *x, float *y) {
  float4 v = reinterpret_cast<const float4 *>(x)[threadIdx.x];  // LOAD
  y[4 * threadIdx.x] = v.x + v.y + v.z + v.w;
}
extern "C" void load(const float *x, float *y, int n) { load_kernel<<<1, 8>>>(x + n, y + n); }

__global__ void store_kernel(const float *x, float *y) {
  float4 v = {x[threadIdx.x], 1, 2, 3};
  __syncthreads();
  reinterpret_cast<float4 *>(y)[threadIdx.x] = v;  // STORE
}
extern "C" void store(const float *x, float *y, int n) { store_kernel<<<1, 8>>>(x + n, y + n); }

__global__ void cached_kernel(const float *x, float *y) {
  float2 v = __ldg(reinterpret_cast<const float2 *>(x) + threadIdx.x);  // CACHED
  y[threadIdx.x] = v.x + v.y;
}
extern "C" void cached(const float *x, float *y, int n) { cached_kernel<<<1, 8>>>(x + n, y + n); }

__global__ void wide_kernel(const float *x, float *y) {
  y[threadIdx.x] = (float)*reinterpret_cast<const double *>(x + 2 * threadIdx.x);  // WIDE
}
extern "C" void wide(const float *x, float *y, int n) { wide_kernel<<<1, 8>>>(x + n, y + n); }

// All that may lie anywhere, and what only looks like an access: components are read by themselves.
__global__ void fine_kernel(const float *x, float *y) {
  __shared__ float4 tile[8];
  __shared__ __half2 pairs[8];
  const float4 *p = reinterpret_cast<const float4 *>(x);
  const float4 &seen = p[threadIdx.x];
  tile[threadIdx.x] = make_float4(seen.x, p[threadIdx.x].y, x[0], 1);
  pairs[threadIdx.x] = __floats2half2_rn(x[threadIdx.x], 2.0f);
  float3 three = *reinterpret_cast<const float3 *>(x + threadIdx.x);
  __syncthreads();
  float4 v = tile[7 - threadIdx.x];
  y[threadIdx.x] = v.x + three.z + __low2float(pairs[threadIdx.x]);
}
extern "C" void fine(const float *x, float *y, int n) { fine_kernel<<<1, 8>>>(x + n, y + n); }

__global__ void pair_kernel(const float *x, float *y) {
  const __half2 *p = reinterpret_cast<const __half2 *>(reinterpret_cast<const __half *>(x) + 1);
  __half2 v = p[threadIdx.x];  // PAIR
  y[threadIdx.x] = __low2float(v);
}
extern "C" void pair(const float *x, float *y, int n) { pair_kernel<<<1, 8>>>(x + n, y + n); }
