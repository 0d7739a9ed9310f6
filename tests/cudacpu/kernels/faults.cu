// What goes wrong when a kernel runs.
#include <cassert>
#include <cuda_runtime.h>

__global__ void touch(int *x) { x[0] = 1; }

extern "C" int launch(int *x, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                      unsigned bz, size_t shared_bytes) {
  touch<<<dim3(gx, gy, gz), dim3(bx, by, bz), shared_bytes>>>(x);
  return cudaGetLastError();
}

extern "C" int launch_with_more_shared(int *x, int limit, size_t shared_bytes) {
  int error = cudaFuncSetAttribute(touch, cudaFuncAttributeMaxDynamicSharedMemorySize, limit);
  if (error) return cudaGetLastError();
  touch<<<1, 1, shared_bytes>>>(x);
  return cudaGetLastError();
}

__global__ void too_much(float *x) {
  __shared__ float s[8192];
  extern __shared__ float more[];
  s[0] = more[0];
  x[0] = s[0];
}
extern "C" int static_and_dynamic(float *x) {
  too_much<<<1, 1, 32768>>>(x);
  return cudaDeviceSynchronize();
}

__global__ void two_barriers(int *x) {
  if (threadIdx.x < 10) {
    __syncthreads();  // FIRST
    x[0] = 1;
  } else {
    __syncthreads();  // SECOND
  }
}
extern "C" void diverge(int *x) { two_barriers<<<3, 32>>>(x); }

__global__ void barrier_and_warp(int *x) {
  if (threadIdx.x == 3) return;
  if (threadIdx.x < 16) x[threadIdx.x] = __shfl_sync(0xffffffffu, threadIdx.x, 0);  // SHUFFLE
  __syncthreads();  // BARRIER
}
extern "C" void deadlock(int *x) { barrier_and_warp<<<1, 64>>>(x); }

__global__ void foreign_mask(int *x) { x[threadIdx.x] = __shfl_sync(0xffu, threadIdx.x, 0); }
extern "C" void wrong_mask(int *x) { foreign_mask<<<1, 32>>>(x); }

__global__ void trapping(int *x, bool trap) {
  __syncthreads();
  if (threadIdx.x == 5 && blockIdx.x == 1) {
    if (trap) __trap();
    assert(x == nullptr);
  }
  __syncthreads();
}
extern "C" int trapped(int *x, bool trap) {
  trapping<<<4, 64>>>(x, trap);
  return cudaDeviceSynchronize();
}

extern "C" int capture() {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  int error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaStreamDestroy(stream);
  return error;
}
