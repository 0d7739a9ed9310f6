// Asynchronous copies of 4, 8 or 16 bytes.
#pragma once
#include "cudacpu/async.h"
#include "cuda_runtime.h"

inline void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zeros = 0,
                                    CUDACPU_LINE) {
  if ((bytes != 4 && bytes != 8 && bytes != 16) || zeros > bytes) {
    cudacpu::worker->fail(cudacpu::fault_trap,
                          "__pipeline_memcpy_async at line %d copies 4, 8 or 16 bytes, not %zu",
                          line, bytes);
  }
  if ((reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from)) % bytes) {
    cudacpu::misaligned("an asynchronous copy", "", bytes, nullptr, line);
  }
  cudacpu::copy_later(to, from, bytes, zeros, nullptr, cudacpu::my_copies().committed);
}
inline void __pipeline_commit() { ++cudacpu::my_copies().committed; }
inline void __pipeline_wait_prior(size_t left) { cudacpu::wait_for_batches(left); }
