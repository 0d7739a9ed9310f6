// IEEE binary16, with round-to-nearest-even results.
#pragma once
#include "cuda_runtime.h"
#include "cudacpu/small_float.h"

namespace cudacpu {

struct Binary16 {
  static constexpr int mantissa_bits = 10;
  static constexpr uint16_t infinity = 0x7c00, nan = 0x7fff, largest = 0x7bff;

  static float decode(uint16_t h) {
    uint32_t x = static_cast<uint32_t>(h & 0x7fff) << 13;
    uint32_t exponent = x & 0x0f800000u;
    x += (127 - 15) << 23;
    if (exponent == 0x0f800000u) {
      x += (128 - 16) << 23;
    } else if (exponent == 0) {  // subnormal: let the float unit renormalise
      x = bits<uint32_t>(bits<float>(x + (1u << 23)) - bits<float>(uint32_t(113) << 23));
    }
    return bits<float>(x | static_cast<uint32_t>(h & 0x8000) << 16);
  }

  static uint16_t encode(float f) {
    uint32_t x = bits<uint32_t>(f);
    uint16_t sign = static_cast<uint16_t>(x >> 16 & 0x8000);
    x &= 0x7fffffffu;
    if (x > 0x7f800000u) return nan;
    if (x >= 0x477ff000u) return static_cast<uint16_t>(sign | infinity);
    if (x < 0x38800000u) {
      // Adding 0.5 puts the last place of a binary16 subnormal at a float's: the sum rounds.
      uint32_t rounded = bits<uint32_t>(bits<float>(x) + 0.5f) - 0x3f000000u;
      return static_cast<uint16_t>(sign | rounded);
    }
    x += 0xc8000fffu + (x >> 13 & 1);
    return static_cast<uint16_t>(sign | x >> 13);
  }
};

}  // namespace cudacpu

using __half = cudacpu::Small<cudacpu::Binary16>;
using __half2 = cudacpu::Pair<__half>;
using half = __half;
using half2 = __half2;
using __half_raw = cudacpu::SmallRaw;
using __half2_raw = cudacpu::PairRaw;

#define CUDACPU_T __half
#define CUDACPU_T2 __half2
#define CUDACPU_NAME(before, after) before##half##after
#define CUDACPU_BITS(before, after) __half##after
#include "cudacpu/small_float_functions.inc"
#undef CUDACPU_T
#undef CUDACPU_T2
#undef CUDACPU_NAME
#undef CUDACPU_BITS

inline __half2 __half2half2(__half a) { return {a, a}; }
inline __half2 __halves2half2(__half a, __half b) { return {a, b}; }
inline __half2 make_half2(__half a, __half b) { return {a, b}; }
inline __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
inline __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7c00u)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7fffu)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7bffu)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001u)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000u)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000u)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3c00u)
