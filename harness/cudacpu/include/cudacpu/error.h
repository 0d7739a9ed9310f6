// Error codes, and the two places where an error is kept: the one CUDA's API shows to the
// submission (cudaGetLastError), and the one that the runner takes (cudacpu_take_error).
#pragma once
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "qualifiers.h"

#define CUDACPU_ERRORS(X)                                                                    \
  X(cudaSuccess, 0, "no error")                                                              \
  X(cudaErrorInvalidValue, 1, "invalid argument")                                            \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                                           \
  X(cudaErrorInitializationError, 3, "initialization error")                                 \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                      \
  X(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                                \
  X(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                     \
  X(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                             \
  X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                \
  X(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient")                  \
  X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                           \
  X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                            \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                   \
  X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                          \
  X(cudaErrorNotReady, 600, "device not ready")                                              \
  X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                \
  X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")           \
  X(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                  \
  X(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                \
  X(cudaErrorAssert, 710, "device-side assert triggered")                                    \
  X(cudaErrorMisalignedAddress, 716, "misaligned address")                                   \
  X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                               \
  X(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")        \
  X(cudaErrorNotPermitted, 800, "operation not permitted")                                   \
  X(cudaErrorNotSupported, 801, "operation not supported")                                   \
  X(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing") \
  X(cudaErrorUnknown, 999, "unknown error")

#define CUDACPU_ENUMERATOR(name, code, text) name = code,
enum cudaError { CUDACPU_ERRORS(CUDACPU_ENUMERATOR) };
#undef CUDACPU_ENUMERATOR
typedef enum cudaError cudaError_t;

inline const char* cudaGetErrorName(cudaError_t error) {
#define CUDACPU_CASE(name, code, text) case name: return #name;
  switch (error) { CUDACPU_ERRORS(CUDACPU_CASE) }
#undef CUDACPU_CASE
  return "unrecognized error code";
}

inline const char* cudaGetErrorString(cudaError_t error) {
#define CUDACPU_CASE(name, code, text) case name: return text;
  switch (error) { CUDACPU_ERRORS(CUDACPU_CASE) }
#undef CUDACPU_CASE
  return "unrecognized error code";
}

namespace cudacpu {

// Codes of cudacpu_take_error beyond CUDA's own.
enum Fault {
  fault_divergence = 10001,
  fault_unsupported = 10002,
  fault_trap = 10003,
  fault_memory = 10004,
};

static struct ErrorState {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  int first = 0;              // for the runner
  char message[2048] = "";
  cudaError_t last = cudaSuccess;    // for the submission
  cudaError_t sticky = cudaSuccess;  // a kernel died: as on a GPU, nothing works after it
} errors;

inline cudaError_t set_last_error(cudaError_t error) {
  if (error != cudaSuccess) errors.last = error;
  return error;
}

inline void record_error(int code, cudaError_t shown, bool sticky, const char* message) {
  pthread_mutex_lock(&errors.lock);
  if (errors.first == 0) {
    errors.first = code;
    snprintf(errors.message, sizeof errors.message, "%s", message);
  }
  errors.last = shown;
  if (sticky) errors.sticky = shown;
  pthread_mutex_unlock(&errors.lock);
}

// Something that the API offers and this executor does not have.
inline cudaError_t not_supported(const char* what) {
  char text[256];
  snprintf(text, sizeof text, "%s is not supported by the CPU executor", what);
  record_error(fault_unsupported, cudaErrorNotSupported, false, text);
  return cudaErrorNotSupported;
}

}  // namespace cudacpu

CUDACPU_EXPORT int cudacpu_take_error(char* message, size_t capacity) {
  using cudacpu::errors;
  pthread_mutex_lock(&errors.lock);
  int code = errors.first;
  if (message && capacity) snprintf(message, capacity, "%s", code ? errors.message : "");
  errors.first = 0;
  errors.message[0] = 0;
  errors.last = errors.sticky = cudaSuccess;
  pthread_mutex_unlock(&errors.lock);
  return code;
}

inline cudaError_t cudaPeekAtLastError() { return cudacpu::errors.last; }

inline cudaError_t cudaGetLastError() {
  cudaError_t error = cudacpu::errors.last;
  cudacpu::errors.last = cudacpu::errors.sticky;
  return error;
}
