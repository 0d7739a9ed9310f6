// Atomics: real ones, since the blocks of a grid run on several OS threads at once.
#pragma once
#include "block.h"

namespace cudacpu {

// Applies `change` to the value at `address`, as one atomic step; returns the value before.
template <class T, class Word, class F>
inline T update(T* address, F change) {
  static_assert(sizeof(T) == sizeof(Word), "an atomic is as wide as its word");
  Word* word = reinterpret_cast<Word*>(address);
  Word seen = __atomic_load_n(word, __ATOMIC_RELAXED);
  for (;;) {
    T before, after;
    memcpy(static_cast<void*>(&before), &seen, sizeof seen);
    after = change(before);
    Word wanted;
    memcpy(&wanted, &after, sizeof wanted);
    if (__atomic_compare_exchange_n(word, &seen, wanted, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED)) {
      return before;
    }
  }
}

template <class T>
inline T compare_and_swap(T* address, T expected, T desired) {
  T seen = expected;
  if (!__atomic_compare_exchange_n(address, &seen, desired, false, __ATOMIC_SEQ_CST,
                                   __ATOMIC_SEQ_CST) &&
      worker) {
    worker->yield();  // perhaps the holder of a lock is in this block
  }
  return seen;
}

}  // namespace cudacpu

// Each operation comes plain and with CUDA's two scope suffixes.
#define CUDACPU_SCOPES(R, name, parameters, ...) \
  inline R name parameters __VA_ARGS__           \
  inline R name##_block parameters __VA_ARGS__   \
  inline R name##_system parameters __VA_ARGS__

#define CUDACPU_INTEGER_ATOMICS(T, W)                                                          \
  CUDACPU_SCOPES(T, atomicAdd, (T * p, T v), {                                                 \
    return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);                                         \
  })                                                                                           \
  CUDACPU_SCOPES(T, atomicExch, (T * p, T v), {                                                \
    return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                        \
  })                                                                                           \
  CUDACPU_SCOPES(T, atomicCAS, (T * p, T expected, T v), {                                     \
    return cudacpu::compare_and_swap(p, expected, v);                                          \
  })                                                                                           \
  CUDACPU_MORE_ATOMICS(T, W)

#define CUDACPU_MORE_ATOMICS(T, W)                                                             \
  CUDACPU_SCOPES(T, atomicMin, (T * p, T v), {                                                 \
    return cudacpu::update<T, W>(p, [v](T old) { return v < old ? v : old; });                 \
  })                                                                                           \
  CUDACPU_SCOPES(T, atomicMax, (T * p, T v), {                                                 \
    return cudacpu::update<T, W>(p, [v](T old) { return v > old ? v : old; });                 \
  })                                                                                           \
  CUDACPU_SCOPES(T, atomicAnd, (T * p, T v), {                                                 \
    return __atomic_fetch_and(p, v, __ATOMIC_RELAXED);                                         \
  })                                                                                           \
  CUDACPU_SCOPES(T, atomicOr, (T * p, T v), {                                                  \
    return __atomic_fetch_or(p, v, __ATOMIC_RELAXED);                                          \
  })                                                                                           \
  CUDACPU_SCOPES(T, atomicXor, (T * p, T v), {                                                 \
    return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED);                                         \
  })

CUDACPU_INTEGER_ATOMICS(int, unsigned)
CUDACPU_INTEGER_ATOMICS(unsigned, unsigned)
CUDACPU_INTEGER_ATOMICS(unsigned long long, unsigned long long)
CUDACPU_MORE_ATOMICS(long long, unsigned long long)

CUDACPU_SCOPES(int, atomicSub, (int* p, int v), {
  return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED);
})
CUDACPU_SCOPES(unsigned, atomicSub, (unsigned* p, unsigned v), {
  return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED);
})
CUDACPU_SCOPES(unsigned, atomicInc, (unsigned* p, unsigned limit), {
  return cudacpu::update<unsigned, unsigned>(
      p, [limit](unsigned old) { return old >= limit ? 0u : old + 1; });
})
CUDACPU_SCOPES(unsigned, atomicDec, (unsigned* p, unsigned limit), {
  return cudacpu::update<unsigned, unsigned>(
      p, [limit](unsigned old) { return old == 0 || old > limit ? limit : old - 1; });
})
CUDACPU_SCOPES(unsigned short, atomicCAS,
               (unsigned short* p, unsigned short expected, unsigned short v), {
  return cudacpu::compare_and_swap(p, expected, v);
})
CUDACPU_SCOPES(float, atomicAdd, (float* p, float v), {
  return cudacpu::update<float, unsigned>(p, [v](float old) { return old + v; });
})
CUDACPU_SCOPES(double, atomicAdd, (double* p, double v), {
  return cudacpu::update<double, unsigned long long>(p, [v](double old) { return old + v; });
})
CUDACPU_SCOPES(float, atomicExch, (float* p, float v), {
  return cudacpu::update<float, unsigned>(p, [v](float) { return v; });
})
// Per component, as on the device: the vector as a whole is not one atomic access.
CUDACPU_SCOPES(float2, atomicAdd, (float2 * p, float2 v), {
  return float2{atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y)};
})
CUDACPU_SCOPES(float4, atomicAdd, (float4 * p, float4 v), {
  return float4{atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y), atomicAdd(&p->z, v.z),
                atomicAdd(&p->w, v.w)};
})
