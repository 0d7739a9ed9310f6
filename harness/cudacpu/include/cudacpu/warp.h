// Barriers, votes, shuffles, fences, and the loads and stores that hint at caches.
#pragma once
#include <time.h>

#include "alignment.h"
#include "block.h"

// ---- block barriers -----------------------------------------------------------------------

inline void __syncthreads(CUDACPU_LINE) {
  cudacpu::worker->barrier(cudacpu::Barrier::plain, false, line);
}

inline int __syncthreads_count(int predicate, CUDACPU_LINE) {
  return static_cast<int>(cudacpu::worker->barrier(cudacpu::Barrier::count, predicate, line));
}

inline int __syncthreads_and(int predicate, CUDACPU_LINE) {
  unsigned members = 0;
  return cudacpu::worker->barrier(cudacpu::Barrier::all, predicate, line, &members) == members;
}

inline int __syncthreads_or(int predicate, CUDACPU_LINE) {
  return cudacpu::worker->barrier(cudacpu::Barrier::any, predicate, line) != 0;
}

// ---- warp collectives ---------------------------------------------------------------------

inline void __syncwarp(unsigned mask = 0xffffffffu, CUDACPU_LINE) {
  cudacpu::worker->collective(cudacpu::Collective::sync, mask, 0, 0, line);
}

inline unsigned __activemask(CUDACPU_LINE) { return cudacpu::worker->active_mask(line); }

namespace cudacpu {

template <class T>
inline uint64_t to_word(const T& value) {
  static_assert(sizeof(T) <= 8, "warp collectives move at most 8 bytes");
  uint64_t word = 0;
  memcpy(&word, &value, sizeof value);
  return word;
}

template <class T>
inline T from_word(uint64_t word) {
  T value;
  memcpy(static_cast<void*>(&value), &word, sizeof value);
  return value;
}

inline unsigned lane() { return worker->running & 31; }

// `source` is a lane of the warp; outside the caller's segment it is the caller itself.
template <class T>
inline T shuffle(unsigned mask, const T& value, unsigned source, int line) {
  return from_word<T>(
      worker->collective(Collective::shuffle, mask, to_word(value), source, line));
}

inline unsigned vote(unsigned mask, bool predicate, int line, unsigned* members = nullptr) {
  uint64_t result = worker->collective(Collective::vote, mask, predicate, 0, line);
  if (members) *members = static_cast<unsigned>(result >> 32);
  return static_cast<unsigned>(result);
}

template <class T>
inline T reduce(Collective operation, unsigned mask, T value, int line) {
  return static_cast<T>(
      worker->collective(operation, mask, static_cast<uint32_t>(value), 0, line));
}

}  // namespace cudacpu

template <class T>
inline T __shfl_sync(unsigned mask, T value, int source, int width = 32, CUDACPU_LINE) {
  unsigned first = cudacpu::lane() & ~(width - 1u);
  return cudacpu::shuffle(mask, value, first + (source & (width - 1)), line);
}

template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, CUDACPU_LINE) {
  unsigned lane = cudacpu::lane(), within = lane & (width - 1u);
  return cudacpu::shuffle(mask, value, delta > within ? lane : lane - delta, line);
}

template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, CUDACPU_LINE) {
  unsigned lane = cudacpu::lane(), within = lane & (width - 1u);
  bool inside = delta < static_cast<unsigned>(width) - within;
  return cudacpu::shuffle(mask, value, inside ? lane + delta : lane, line);
}

template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, CUDACPU_LINE) {
  unsigned lane = cudacpu::lane(), source = lane ^ static_cast<unsigned>(lane_mask);
  // A lower segment may be read, a higher one may not.
  bool above = source >= (lane & ~(width - 1u)) + width;
  return cudacpu::shuffle(mask, value, above ? lane : source, line);
}

inline unsigned __ballot_sync(unsigned mask, int predicate, CUDACPU_LINE) {
  return cudacpu::vote(mask, predicate, line);
}

inline int __any_sync(unsigned mask, int predicate, CUDACPU_LINE) {
  return cudacpu::vote(mask, predicate, line) != 0;
}

inline int __all_sync(unsigned mask, int predicate, CUDACPU_LINE) {
  unsigned members = 0;
  return cudacpu::vote(mask, predicate, line, &members) == members;
}

template <class T>
inline unsigned __match_any_sync(unsigned mask, T value, CUDACPU_LINE) {
  return static_cast<unsigned>(cudacpu::worker->collective(
      cudacpu::Collective::match, mask, cudacpu::to_word(value), 0, line));
}

template <class T>
inline unsigned __match_all_sync(unsigned mask, T value, int* all, CUDACPU_LINE) {
  uint64_t result = cudacpu::worker->collective(cudacpu::Collective::match, mask,
                                                cudacpu::to_word(value), 0, line);
  unsigned members = static_cast<unsigned>(result >> 32);
  *all = static_cast<unsigned>(result) == members;
  return *all ? members : 0;
}

#define CUDACPU_REDUCE(name, T, operation)                              \
  inline T name(unsigned mask, T value, CUDACPU_LINE) {                 \
    return cudacpu::reduce(cudacpu::Collective::operation, mask, value, line); \
  }
CUDACPU_REDUCE(__reduce_add_sync, unsigned, add)
CUDACPU_REDUCE(__reduce_add_sync, int, add)
CUDACPU_REDUCE(__reduce_min_sync, unsigned, min_unsigned)
CUDACPU_REDUCE(__reduce_min_sync, int, min_signed)
CUDACPU_REDUCE(__reduce_max_sync, unsigned, max_unsigned)
CUDACPU_REDUCE(__reduce_max_sync, int, max_signed)
CUDACPU_REDUCE(__reduce_and_sync, unsigned, bit_and)
CUDACPU_REDUCE(__reduce_or_sync, unsigned, bit_or)
CUDACPU_REDUCE(__reduce_xor_sync, unsigned, bit_xor)
#undef CUDACPU_REDUCE

// ---- memory -------------------------------------------------------------------------------

inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// A thread that waits for another lets the others of its block run; so does a failed CAS.
inline void __nanosleep(unsigned) { cudacpu::worker->yield(); }

#define CUDACPU_LOAD(name)                                      \
  template <class T> inline T name(const T* address, CUDACPU_LINE) { \
    cudacpu::check_alignment("a load", address, line);          \
    return *address;                                            \
  }
CUDACPU_LOAD(__ldg)
CUDACPU_LOAD(__ldcg)
CUDACPU_LOAD(__ldca)
CUDACPU_LOAD(__ldcs)
CUDACPU_LOAD(__ldlu)
CUDACPU_LOAD(__ldcv)
#undef CUDACPU_LOAD

namespace cudacpu {
template <class T> struct Same { using type = T; };  // keeps an argument out of deduction
}
#define CUDACPU_STORE(name)                                                                \
  template <class T>                                                                       \
  inline void name(T* address, typename cudacpu::Same<T>::type value, CUDACPU_LINE) {      \
    cudacpu::check_alignment("a store", address, line);                                    \
    *address = value;                                                                      \
  }
CUDACPU_STORE(__stwb)
CUDACPU_STORE(__stcg)
CUDACPU_STORE(__stcs)
CUDACPU_STORE(__stwt)
#undef CUDACPU_STORE

template <class T> inline bool __isShared(const T* p) {
  const char* c = reinterpret_cast<const char*>(p);
  const cudacpu::Worker& w = *cudacpu::worker;
  return c >= w.shared_arena && c < w.dynamic_shared + cudacpu::shared_limit;
}
template <class T> inline bool __isGlobal(const T* p) { return !__isShared(p); }

// ---- clocks -------------------------------------------------------------------------------

inline uint64_t cudacpu_nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}
inline long long clock64() { return static_cast<long long>(cudacpu_nanoseconds()); }
inline unsigned long long __globaltimer() { return cudacpu_nanoseconds(); }
