// bfloat16: the upper half of a float, with round-to-nearest-even results.
#pragma once
#include "cuda_runtime.h"
#include "cudacpu/small_float.h"

namespace cudacpu {

struct Brain16 {
  static constexpr int mantissa_bits = 7;
  static constexpr uint16_t infinity = 0x7f80, nan = 0x7fff, largest = 0x7f7f;

  static float decode(uint16_t h) { return bits<float>(static_cast<uint32_t>(h) << 16); }

  static uint16_t encode(float f) {
    uint32_t x = bits<uint32_t>(f);
    if ((x & 0x7fffffffu) > 0x7f800000u) return nan;
    return static_cast<uint16_t>((x + 0x7fff + (x >> 16 & 1)) >> 16);
  }
};

}  // namespace cudacpu

using __nv_bfloat16 = cudacpu::Small<cudacpu::Brain16>;
using __nv_bfloat162 = cudacpu::Pair<__nv_bfloat16>;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;
using __nv_bfloat16_raw = cudacpu::SmallRaw;
using __nv_bfloat162_raw = cudacpu::PairRaw;

#define CUDACPU_T __nv_bfloat16
#define CUDACPU_T2 __nv_bfloat162
#define CUDACPU_NAME(before, after) before##bfloat16##after
#define CUDACPU_BITS(before, after) __bfloat16##after
#include "cudacpu/small_float_functions.inc"
#undef CUDACPU_T
#undef CUDACPU_T2
#undef CUDACPU_NAME
#undef CUDACPU_BITS

inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return {a, a}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
inline __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.x, b.x}; }
inline __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.y, b.y}; }

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7f80u)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7fffu)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7f7fu)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000u)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3f80u)
