// The host API. Host and device memory are one; everything is done when the call returns, so
// streams are in order and events are moments.
#pragma once
#include "launch.h"
#include "warp.h"

typedef struct CUevent_st {
  uint64_t nanoseconds;
  bool recorded;
}* cudaEvent_t;
typedef struct CUgraph_st* cudaGraph_t;
typedef struct CUgraphExec_st* cudaGraphExec_t;
typedef struct CUmemPoolHandle_st* cudaMemPool_t;

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4,
};
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 13,
};
enum cudaFuncCache {
  cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1,
  cudaFuncCachePreferEqual,
};
enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault, cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeEightByte,
};
enum cudaSharedCarveout {
  cudaSharedmemCarveoutDefault = -1, cudaSharedmemCarveoutMaxShared = 100,
  cudaSharedmemCarveoutMaxL1 = 0,
};
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed,
};
enum cudaLimit { cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize };
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlockDimX = 2,
  cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4,
  cudaDevAttrMaxGridDimX = 5,
  cudaDevAttrMaxGridDimY = 6,
  cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrTotalConstantMemory = 9,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrClockRate = 13,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
};

#define cudaStreamDefault 0u
#define cudaStreamNonBlocking 1u
#define cudaStreamLegacy ((cudaStream_t)1)
#define cudaStreamPerThread ((cudaStream_t)2)
#define cudaEventDefault 0u
#define cudaEventBlockingSync 1u
#define cudaEventDisableTiming 2u
#define cudaMemAttachGlobal 1u
#define cudaHostAllocDefault 0u
#define cudaHostAllocPortable 1u
#define cudaHostAllocMapped 2u
#define cudaOccupancyDefault 0u

struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor;
  size_t totalConstMem;
  int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
  int major, minor, multiProcessorCount, maxThreadsPerMultiProcessor, maxBlocksPerMultiProcessor;
  int l2CacheSize, concurrentKernels, cooperativeLaunch, memoryBusWidth, regsPerMultiprocessor;
  int integrated, canMapHostMemory, unifiedAddressing, managedMemory, asyncEngineCount;
};
struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, maxDynamicSharedSizeBytes;
};

namespace cudacpu {

constexpr int multiprocessors = 132;

// Every call fails once a kernel has died, and a failure is also the "last error".
inline cudaError_t done(cudaError_t error = cudaSuccess) {
  return errors.sticky != cudaSuccess ? errors.sticky : set_last_error(error);
}

inline cudaError_t allocate(void** pointer, size_t bytes) {
  if (!pointer) return done(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0) return done();
  void* memory = nullptr;
  if (bytes > size_t(1) << 46 || posix_memalign(&memory, 256, bytes) != 0 || !memory) {
    return done(cudaErrorMemoryAllocation);
  }
  memset(memory, 0xff, bytes);  // fresh device memory holds anything: let it be NaN
  *pointer = memory;
  return done();
}

inline cudaError_t release(void* pointer) {
  free(pointer);
  return done();
}

inline cudaError_t copy(void* to, const void* from, size_t bytes) {
  if (bytes && (!to || !from)) return done(cudaErrorInvalidValue);
  if (bytes) memmove(to, from, bytes);
  return done();
}

inline cudaError_t copy_rows(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                             size_t width, size_t height) {
  if (width > to_pitch || width > from_pitch) return done(cudaErrorInvalidPitchValue);
  for (size_t row = 0; row < height; ++row) {
    memmove(static_cast<char*>(to) + row * to_pitch,
            static_cast<const char*>(from) + row * from_pitch, width);
  }
  return done();
}

inline cudaError_t fill(void* to, int value, size_t bytes) {
  if (bytes && !to) return done(cudaErrorInvalidValue);
  if (bytes) memset(to, value, bytes);
  return done();
}

inline cudaError_t set_dynamic_limit(const void* kernel, int bytes) {
  if (bytes < 0 || static_cast<size_t>(bytes) > shared_limit) return done(cudaErrorInvalidValue);
  if (static_cast<size_t>(bytes) > dynamic_limits.largest) dynamic_limits.largest = bytes;
  for (unsigned i = 0; i < dynamic_limits.count; ++i) {
    if (dynamic_limits.entries[i].kernel == kernel) {
      dynamic_limits.entries[i].bytes = bytes;
      return done();
    }
  }
  if (dynamic_limits.count == 256) return done(cudaErrorMemoryAllocation);
  dynamic_limits.entries[dynamic_limits.count++] = {kernel, static_cast<size_t>(bytes)};
  return done();
}

}  // namespace cudacpu

// ---- memory -------------------------------------------------------------------------------

template <class T> inline cudaError_t cudaMalloc(T** p, size_t bytes) {
  return cudacpu::allocate(reinterpret_cast<void**>(p), bytes);
}
template <class T> inline cudaError_t cudaMallocAsync(T** p, size_t bytes, cudaStream_t) {
  return cudacpu::allocate(reinterpret_cast<void**>(p), bytes);
}
template <class T>
inline cudaError_t cudaMallocManaged(T** p, size_t bytes, unsigned = cudaMemAttachGlobal) {
  return cudacpu::allocate(reinterpret_cast<void**>(p), bytes);
}
template <class T> inline cudaError_t cudaMallocHost(T** p, size_t bytes, unsigned = 0) {
  return cudacpu::allocate(reinterpret_cast<void**>(p), bytes);
}
template <class T> inline cudaError_t cudaHostAlloc(T** p, size_t bytes, unsigned) {
  return cudacpu::allocate(reinterpret_cast<void**>(p), bytes);
}
template <class T>
inline cudaError_t cudaMallocPitch(T** p, size_t* pitch, size_t width, size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return cudacpu::allocate(reinterpret_cast<void**>(p), *pitch * height);
}
inline cudaError_t cudaFree(void* p) { return cudacpu::release(p); }
inline cudaError_t cudaFreeAsync(void* p, cudaStream_t) { return cudacpu::release(p); }
inline cudaError_t cudaFreeHost(void* p) { return cudacpu::release(p); }

inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  return cudacpu::copy(to, from, bytes);
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind,
                                   cudaStream_t = nullptr) {
  return cudacpu::copy(to, from, bytes);
}
inline cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                size_t width, size_t height, cudaMemcpyKind) {
  return cudacpu::copy_rows(to, to_pitch, from, from_pitch, width, height);
}
inline cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from,
                                     size_t from_pitch, size_t width, size_t height,
                                     cudaMemcpyKind, cudaStream_t = nullptr) {
  return cudacpu::copy_rows(to, to_pitch, from, from_pitch, width, height);
}
inline cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return cudacpu::fill(to, value, bytes);
}
inline cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t = nullptr) {
  return cudacpu::fill(to, value, bytes);
}
inline cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  for (size_t row = 0; row < height; ++row) {
    memset(static_cast<char*>(to) + row * pitch, value, width);
  }
  return cudacpu::done();
}
template <class T>
inline cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes,
                                      size_t offset = 0,
                                      cudaMemcpyKind = cudaMemcpyHostToDevice) {
  if (offset + bytes > sizeof(T)) return cudacpu::done(cudaErrorInvalidValue);
  char* to = const_cast<char*>(reinterpret_cast<const volatile char*>(&symbol)) + offset;
  return cudacpu::copy(to, from, bytes);
}
template <class T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes,
                                           size_t offset, cudaMemcpyKind kind,
                                           cudaStream_t = nullptr) {
  return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes,
                                        size_t offset = 0,
                                        cudaMemcpyKind = cudaMemcpyDeviceToHost) {
  if (offset + bytes > sizeof(T)) return cudacpu::done(cudaErrorInvalidValue);
  const char* from = const_cast<const char*>(reinterpret_cast<const volatile char*>(&symbol));
  return cudacpu::copy(to, from + offset, bytes);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes,
                                             size_t offset, cudaMemcpyKind kind,
                                             cudaStream_t = nullptr) {
  return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}
template <class P, class T> inline cudaError_t cudaGetSymbolAddress(P** to, const T& symbol) {
  *to = reinterpret_cast<P*>(const_cast<char*>(reinterpret_cast<const volatile char*>(&symbol)));
  return cudacpu::done();
}
template <class T> inline cudaError_t cudaGetSymbolSize(size_t* bytes, const T&) {
  *bytes = sizeof(T);
  return cudacpu::done();
}
inline cudaError_t cudaMemGetInfo(size_t* available, size_t* total) {
  *available = *total = size_t(8) << 30;
  return cudacpu::done();
}
inline cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t = nullptr) {
  return cudacpu::done();
}
inline cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  *device = host;
  return cudacpu::done();
}

// ---- device -------------------------------------------------------------------------------

inline cudaError_t cudaDeviceSynchronize() { return cudacpu::done(); }
inline cudaError_t cudaDeviceReset() { return cudacpu::done(); }
inline cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, cudacpu::done(); }
inline cudaError_t cudaGetDevice(int* device) { return *device = 0, cudacpu::done(); }
inline cudaError_t cudaSetDevice(int device) {
  return cudacpu::done(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
inline cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudacpu::done(); }
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudacpu::done(); }
inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudacpu::done(); }
inline cudaError_t cudaRuntimeGetVersion(int* v) { return *v = CUDART_VERSION, cudacpu::done(); }
inline cudaError_t cudaDriverGetVersion(int* v) { return *v = CUDART_VERSION, cudacpu::done(); }

inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  if (device != 0) return cudacpu::done(cudaErrorInvalidDevice);
  *p = cudaDeviceProp{};
  snprintf(p->name, sizeof p->name, "CPU executor");
  p->totalGlobalMem = size_t(8) << 30;
  p->sharedMemPerBlock = cudacpu::shared_default_limit;
  p->sharedMemPerBlockOptin = cudacpu::shared_limit;
  p->sharedMemPerMultiprocessor = 233472;
  p->totalConstMem = 65536;
  p->regsPerBlock = p->regsPerMultiprocessor = 65536;
  p->warpSize = 32;
  p->maxThreadsPerBlock = p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
  p->maxThreadsDim[2] = 64;
  p->maxGridSize[0] = 0x7fffffff;
  p->maxGridSize[1] = p->maxGridSize[2] = 65535;
  p->major = 9;
  p->multiProcessorCount = cudacpu::multiprocessors;
  p->maxThreadsPerMultiProcessor = 2048;
  p->maxBlocksPerMultiProcessor = 32;
  p->l2CacheSize = 50 << 20;
  p->memoryBusWidth = 5120;
  p->concurrentKernels = p->unifiedAddressing = p->managedMemory = p->canMapHostMemory = 1;
  p->asyncEngineCount = 1;
  return cudacpu::done();
}

inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (device != 0) return cudacpu::done(cudaErrorInvalidDevice);
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY: *value = 1024; break;
    case cudaDevAttrMaxBlockDimZ: *value = 64; break;
    case cudaDevAttrMaxGridDimX: *value = 0x7fffffff; break;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ: *value = 65535; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = cudacpu::shared_default_limit; break;
    case cudaDevAttrTotalConstantMemory: *value = 65536; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrMaxRegistersPerBlock: *value = 65536; break;
    case cudaDevAttrClockRate: *value = 1000000; break;
    case cudaDevAttrMultiProcessorCount: *value = cudacpu::multiprocessors; break;
    case cudaDevAttrL2CacheSize: *value = 50 << 20; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
    case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
    case cudaDevAttrComputeCapabilityMinor:
    case cudaDevAttrCooperativeLaunch: *value = 0; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = 233472; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = cudacpu::shared_limit; break;
    default: return cudacpu::done(cudaErrorInvalidValue);
  }
  return cudacpu::done();
}

// ---- functions ----------------------------------------------------------------------------

template <class F>
inline cudaError_t cudaFuncSetAttribute(F* kernel, cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudacpu::done();
  return cudacpu::set_dynamic_limit(reinterpret_cast<const void*>(kernel), value);
}
template <class F> inline cudaError_t cudaFuncSetCacheConfig(F*, cudaFuncCache) {
  return cudacpu::done();
}
template <class F> inline cudaError_t cudaFuncSetSharedMemConfig(F*, cudaSharedMemConfig) {
  return cudacpu::done();
}
template <class F> inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* a, F*) {
  *a = cudaFuncAttributes{};
  a->maxThreadsPerBlock = 1024;
  a->numRegs = 32;
  a->maxDynamicSharedSizeBytes = cudacpu::shared_default_limit;
  a->binaryVersion = a->ptxVersion = 90;
  return cudacpu::done();
}
template <class F>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, F*, int threads,
                                                                 size_t shared_bytes) {
  if (threads < 1 || threads > 1024) return *blocks = 0, cudacpu::done(cudaErrorInvalidValue);
  int count = 2048 / ((threads + 31) / 32 * 32);
  if (count > 32) count = 32;
  if (shared_bytes && size_t(count) > 233472 / (shared_bytes + 1024)) {
    count = int(233472 / (shared_bytes + 1024));
  }
  return *blocks = count, cudacpu::done();
}
template <class F>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, F*,
                                                      size_t = 0, int limit = 0) {
  *block = limit > 0 && limit < 1024 ? limit : 1024;
  *grid = cudacpu::multiprocessors * 2;
  return cudacpu::done();
}
// Only with the kernel's own type: behind a `void*` its parameters cannot be told.
template <class... P>
inline cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void** arguments,
                                    size_t shared_bytes = 0, cudaStream_t = nullptr) {
  struct Call {
    Call(const cudacpu::Launcher<P...>& launch, P... values) { launch(values...); }
  };
  unsigned i = 0;
  (void)i;
  cudacpu::errors.last = cudacpu::errors.sticky;
  const cudacpu::Configuration all{"(cudaLaunchKernel)", nullptr, grid, block, shared_bytes};
  // Braces, so that the arguments are taken in order.
  Call{cudacpu::plain_launcher(all, kernel),
       *static_cast<typename cudacpu::Same<P>::type*>(arguments[i++])...};
  return cudacpu::errors.last;
}

// ---- streams and events -------------------------------------------------------------------

inline cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = static_cast<cudaStream_t>(malloc(1));
  return cudacpu::done();
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return cudaStreamCreate(stream);
}
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  return cudaStreamCreate(stream);
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (stream == cudaStreamLegacy || stream == cudaStreamPerThread) {
    return cudacpu::done(cudaErrorInvalidResourceHandle);
  }
  return cudacpu::release(stream);
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudacpu::done(); }
inline cudaError_t cudaStreamQuery(cudaStream_t) { return cudacpu::done(); }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) {
  return cudacpu::done();
}
inline cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudacpu::done();
}
inline cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  return cudacpu::not_supported("stream capture");
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t*) {
  return cudacpu::not_supported("stream capture");
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, unsigned long long = 0) {
  return cudacpu::not_supported("a CUDA graph");
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) {
  return cudacpu::not_supported("a CUDA graph");
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t) { return cudacpu::done(); }
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) { return cudacpu::done(); }

inline cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = static_cast<cudaEvent_t>(calloc(1, sizeof(CUevent_st)));
  return cudacpu::done();
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return cudaEventCreate(event);
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) { return cudacpu::release(event); }
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t = nullptr) {
  if (!event) return cudacpu::done(cudaErrorInvalidResourceHandle);
  event->nanoseconds = cudacpu_nanoseconds();
  event->recorded = true;
  return cudacpu::done();
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudacpu::done(); }
inline cudaError_t cudaEventQuery(cudaEvent_t) { return cudacpu::done(); }
inline cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  if (!start || !end || !start->recorded || !end->recorded) {
    return cudacpu::done(cudaErrorInvalidResourceHandle);
  }
  *ms = static_cast<float>(static_cast<double>(end->nanoseconds - start->nanoseconds) * 1e-6);
  return cudacpu::done();
}
