// Math in the global namespace, and the integer, conversion and rounding intrinsics.
#pragma once
#include <float.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include <cmath>
#include <cstdlib>
// After the std headers: these bring the C++ overloads into the global namespace.
#include <math.h>
#include <stdlib.h>

#include "vector_types.h"

namespace cudacpu {

template <class To, class From>
inline To bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "the same bits");
  To to;
  memcpy(static_cast<void*>(&to), &from, sizeof to);
  return to;
}

enum class Rounding { nearest, zero, up, down };

// Rounds the exact value `high + low` (|low| at most half an ulp of high) to a float.
inline float round_to_float(double high, double low, Rounding rounding) {
  float nearest = static_cast<float>(high);
  double error = static_cast<double>(nearest) - high;  // exact
  bool above = error > low, below = error < low;
  if (nearest - nearest != 0 && high - high == 0) {  // overflowed
    above = nearest > 0;
    below = !above;
  }
  switch (rounding) {
    case Rounding::nearest: return nearest;
    case Rounding::up: return below ? nextafterf(nearest, INFINITY) : nearest;
    case Rounding::down: return above ? nextafterf(nearest, -INFINITY) : nearest;
    case Rounding::zero: break;
  }
  return (high > 0 ? above : below) ? nextafterf(nearest, 0.0f) : nearest;
}

// The rounding error of a + b: a + b == sum + two_sum_error(a, b, sum), exactly.
inline double two_sum_error(double a, double b, double sum) {
  double b_part = sum - a;
  double error = (a - (sum - b_part)) + (b - b_part);
  return error == error ? error : 0.0;
}

inline float add_rounded(float a, float b, Rounding rounding) {
  double sum = static_cast<double>(a) + b;
  return round_to_float(sum, two_sum_error(a, b, sum), rounding);
}

inline float multiply_rounded(float a, float b, Rounding rounding) {
  return round_to_float(static_cast<double>(a) * b, 0.0, rounding);
}

inline float divide_rounded(float a, float b, Rounding rounding) {
  double quotient = static_cast<double>(a) / b;
  double remainder = ::fma(-quotient, static_cast<double>(b), static_cast<double>(a));
  double low = remainder == 0 || remainder != remainder ? 0.0
               : (remainder > 0) == (b > 0)             ? DBL_MIN
                                                        : -DBL_MIN;
  return round_to_float(quotient, low, rounding);
}

inline float root_rounded(float a, Rounding rounding) {
  double root = ::sqrt(static_cast<double>(a));
  double remainder = ::fma(-root, root, static_cast<double>(a));
  double low = remainder > 0 ? DBL_MIN : remainder < 0 ? -DBL_MIN : 0.0;
  return round_to_float(root, low, rounding);
}

inline float fma_rounded(float a, float b, float c, Rounding rounding) {
  if (rounding == Rounding::nearest) return ::fmaf(a, b, c);
  double product = static_cast<double>(a) * b, sum = product + c;
  return round_to_float(sum, two_sum_error(product, c, sum), rounding);
}

// Out of range saturates. NaN is zero from float to 32 bits, else the highest bit: as on an H100.
template <class I, class F>
inline I to_integer(F value) {
  if (value != value) return sizeof(I) + sizeof(F) > 8 ? I(I(1) << (sizeof(I) * 8 - 1)) : I(0);
  constexpr bool is_signed = I(-1) < I(0);
  const F limit = static_cast<F>(sizeof(I) == 8 ? 9223372036854775808.0 : 2147483648.0) *
                  (is_signed ? 1 : 2);
  const I lowest = is_signed ? I(I(1) << (sizeof(I) * 8 - 1)) : I(0);
  if (value >= limit) return I(~lowest);
  if (value <= (is_signed ? -limit : F(0))) return lowest;
  return static_cast<I>(value);
}

// Rounds the integer `exact` towards the wanted side of its nearest F.
template <class F, class I>
inline F from_integer(I exact, Rounding rounding) {
  F nearest = static_cast<F>(exact);
  __int128 error = static_cast<__int128>(nearest) - static_cast<__int128>(exact);
  const bool to_zero = rounding == Rounding::zero;
  bool lower = error > 0 && (rounding == Rounding::down || (to_zero && exact > 0));
  bool raise = error < 0 && (rounding == Rounding::up || (to_zero && exact < 0));
  return lower ? std::nextafter(nearest, -F(INFINITY))
         : raise ? std::nextafter(nearest, F(INFINITY))
                 : nearest;
}

}  // namespace cudacpu

// ---- min, max -----------------------------------------------------------------------------

#define CUDACPU_MIN_MAX(R, A, B)                                              \
  inline R min(A a, B b) {                                                    \
    const R x = static_cast<R>(a), y = static_cast<R>(b);                       \
    return x < y ? x : y;                                                       \
  }                                                                             \
  inline R max(A a, B b) {                                                    \
    const R x = static_cast<R>(a), y = static_cast<R>(b);                       \
    return x > y ? x : y;                                                       \
  }
CUDACPU_MIN_MAX(int, int, int)
CUDACPU_MIN_MAX(unsigned, unsigned, unsigned)
CUDACPU_MIN_MAX(unsigned, int, unsigned)
CUDACPU_MIN_MAX(unsigned, unsigned, int)
CUDACPU_MIN_MAX(long, long, long)
CUDACPU_MIN_MAX(unsigned long, unsigned long, unsigned long)
CUDACPU_MIN_MAX(unsigned long, long, unsigned long)
CUDACPU_MIN_MAX(unsigned long, unsigned long, long)
CUDACPU_MIN_MAX(long long, long long, long long)
CUDACPU_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
CUDACPU_MIN_MAX(unsigned long long, long long, unsigned long long)
CUDACPU_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef CUDACPU_MIN_MAX
inline float min(float a, float b) { return ::fminf(a, b); }
inline float max(float a, float b) { return ::fmaxf(a, b); }
inline double min(double a, double b) { return ::fmin(a, b); }
inline double max(double a, double b) { return ::fmax(a, b); }
inline double min(float a, double b) { return ::fmin(double(a), b); }
inline double max(float a, double b) { return ::fmax(double(a), b); }
inline double min(double a, float b) { return ::fmin(a, double(b)); }
inline double max(double a, float b) { return ::fmax(a, double(b)); }
inline unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }

// ---- functions that C does not have -------------------------------------------------------

#define CUDACPU_BOTH(name, expression_f, expression)         \
  inline float name##f(float x) noexcept { return expression_f; }     \
  inline double name(double x) noexcept { return expression; } \
  inline float name(float x) noexcept { return expression_f; }
CUDACPU_BOTH(rsqrt, static_cast<float>(1.0 / ::sqrt(double(x))), 1.0 / ::sqrt(x))
CUDACPU_BOTH(rcbrt, static_cast<float>(1.0 / ::cbrt(double(x))), 1.0 / ::cbrt(x))
CUDACPU_BOTH(sinpi, static_cast<float>(::sin(M_PI * ::fmod(double(x), 2.0))),
             ::sin(M_PI * ::fmod(x, 2.0)))
CUDACPU_BOTH(cospi, static_cast<float>(::cos(M_PI * ::fmod(double(x), 2.0))),
             ::cos(M_PI * ::fmod(x, 2.0)))
CUDACPU_BOTH(normcdf, static_cast<float>(0.5 * ::erfc(-double(x) * M_SQRT1_2)),
             0.5 * ::erfc(-x * M_SQRT1_2))
CUDACPU_BOTH(erfcx, static_cast<float>(::exp(double(x) * x) * ::erfc(double(x))),
             ::exp(x * x) * ::erfc(x))
#undef CUDACPU_BOTH
inline float fdividef(float a, float b) { return a / b; }
inline float norm3df(float a, float b, float c) {
  return static_cast<float>(::sqrt(double(a) * a + double(b) * b + double(c) * c));
}
inline double norm3d(double a, double b, double c) { return ::sqrt(a * a + b * b + c * c); }
inline float norm4df(float a, float b, float c, float d) {
  return static_cast<float>(
      ::sqrt(double(a) * a + double(b) * b + double(c) * c + double(d) * d));
}
inline float rnorm3df(float a, float b, float c) {
  return static_cast<float>(1.0 / ::sqrt(double(a) * a + double(b) * b + double(c) * c));
}
inline float rhypotf(float a, float b) { return static_cast<float>(1.0 / ::hypot(double(a), b)); }

// ---- fast versions: here as exact as the others -------------------------------------------
// (glibc declares most of these names itself, and defines none of them for us.)

inline float __expf(float x) noexcept { return ::expf(x); }
inline float __exp10f(float x) noexcept { return static_cast<float>(::pow(10.0, double(x))); }
inline float __logf(float x) noexcept { return ::logf(x); }
inline float __log2f(float x) noexcept { return ::log2f(x); }
inline float __log10f(float x) noexcept { return ::log10f(x); }
inline float __powf(float x, float y) noexcept { return ::powf(x, y); }
inline float __sinf(float x) noexcept { return ::sinf(x); }
inline float __cosf(float x) noexcept { return ::cosf(x); }
inline float __tanf(float x) noexcept { return ::tanf(x); }
inline float __tanhf(float x) noexcept { return ::tanhf(x); }
inline void __sincosf(float x, float* s, float* c) noexcept { *s = ::sinf(x), *c = ::cosf(x); }
inline float __fdividef(float a, float b) noexcept { return a / b; }
inline float __saturatef(float x) { return x != x ? 0.0f : x < 0 ? 0.0f : x > 1 ? 1.0f : x; }
inline float __frsqrt_rn(float x) { return static_cast<float>(1.0 / ::sqrt(double(x))); }

// ---- arithmetic with a rounding direction -------------------------------------------------

#define CUDACPU_DIRECTIONS(X) X(rn, nearest) X(rz, zero) X(ru, up) X(rd, down)
#define CUDACPU_ROUNDED(suffix, direction)                                                     \
  inline float __fadd_##suffix(float a, float b) {                                             \
    return cudacpu::add_rounded(a, b, cudacpu::Rounding::direction);                           \
  }                                                                                            \
  inline float __fsub_##suffix(float a, float b) {                                             \
    return cudacpu::add_rounded(a, -b, cudacpu::Rounding::direction);                          \
  }                                                                                            \
  inline float __fmul_##suffix(float a, float b) {                                             \
    return cudacpu::multiply_rounded(a, b, cudacpu::Rounding::direction);                      \
  }                                                                                            \
  inline float __fdiv_##suffix(float a, float b) {                                             \
    return cudacpu::divide_rounded(a, b, cudacpu::Rounding::direction);                        \
  }                                                                                            \
  inline float __frcp_##suffix(float a) {                                                      \
    return cudacpu::divide_rounded(1.0f, a, cudacpu::Rounding::direction);                     \
  }                                                                                            \
  inline float __fsqrt_##suffix(float a) {                                                     \
    return cudacpu::root_rounded(a, cudacpu::Rounding::direction);                             \
  }                                                                                            \
  inline float __fmaf_##suffix(float a, float b, float c) {                                    \
    return cudacpu::fma_rounded(a, b, c, cudacpu::Rounding::direction);                        \
  }                                                                                            \
  inline float __double2float_##suffix(double a) {                                             \
    return cudacpu::round_to_float(a, 0.0, cudacpu::Rounding::direction);                      \
  }                                                                                            \
  inline float __int2float_##suffix(int a) {                                                   \
    return cudacpu::from_integer<float>(a, cudacpu::Rounding::direction);                      \
  }                                                                                            \
  inline float __uint2float_##suffix(unsigned a) {                                             \
    return cudacpu::from_integer<float>(a, cudacpu::Rounding::direction);                      \
  }                                                                                            \
  inline float __ll2float_##suffix(long long a) {                                              \
    return cudacpu::from_integer<float>(a, cudacpu::Rounding::direction);                      \
  }                                                                                            \
  inline float __ull2float_##suffix(unsigned long long a) {                                    \
    return cudacpu::from_integer<float>(a, cudacpu::Rounding::direction);                      \
  }                                                                                            \
  inline double __ll2double_##suffix(long long a) {                                            \
    return cudacpu::from_integer<double>(a, cudacpu::Rounding::direction);                     \
  }                                                                                            \
  inline double __ull2double_##suffix(unsigned long long a) {                                  \
    return cudacpu::from_integer<double>(a, cudacpu::Rounding::direction);                     \
  }
CUDACPU_DIRECTIONS(CUDACPU_ROUNDED)
#undef CUDACPU_ROUNDED

#define CUDACPU_TO_INTEGER(suffix, toward)                                                     \
  inline int __float2int_##suffix(float x) { return cudacpu::to_integer<int>(toward(x)); }     \
  inline unsigned __float2uint_##suffix(float x) {                                             \
    return cudacpu::to_integer<unsigned>(toward(x));                                           \
  }                                                                                            \
  inline long long __float2ll_##suffix(float x) {                                              \
    return cudacpu::to_integer<long long>(toward(x));                                          \
  }                                                                                            \
  inline unsigned long long __float2ull_##suffix(float x) {                                    \
    return cudacpu::to_integer<unsigned long long>(toward(x));                                 \
  }                                                                                            \
  inline int __double2int_##suffix(double x) { return cudacpu::to_integer<int>(toward(x)); }   \
  inline unsigned __double2uint_##suffix(double x) {                                           \
    return cudacpu::to_integer<unsigned>(toward(x));                                           \
  }                                                                                            \
  inline long long __double2ll_##suffix(double x) {                                            \
    return cudacpu::to_integer<long long>(toward(x));                                          \
  }                                                                                            \
  inline unsigned long long __double2ull_##suffix(double x) {                                  \
    return cudacpu::to_integer<unsigned long long>(toward(x));                                 \
  }
CUDACPU_TO_INTEGER(rn, std::nearbyint)
CUDACPU_TO_INTEGER(rz, std::trunc)
CUDACPU_TO_INTEGER(ru, std::ceil)
CUDACPU_TO_INTEGER(rd, std::floor)
#undef CUDACPU_TO_INTEGER

inline double __int2double_rn(int a) { return a; }
inline double __uint2double_rn(unsigned a) { return a; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __drcp_rn(double a) { return 1.0 / a; }
inline double __dsqrt_rn(double a) { return ::sqrt(a); }
inline double __fma_rn(double a, double b, double c) { return ::fma(a, b, c); }

// ---- the same bits under another type -----------------------------------------------------

inline int __float_as_int(float x) { return cudacpu::bits<int>(x); }
inline unsigned __float_as_uint(float x) { return cudacpu::bits<unsigned>(x); }
inline float __int_as_float(int x) { return cudacpu::bits<float>(x); }
inline float __uint_as_float(unsigned x) { return cudacpu::bits<float>(x); }
inline long long __double_as_longlong(double x) { return cudacpu::bits<long long>(x); }
inline double __longlong_as_double(long long x) { return cudacpu::bits<double>(x); }
inline int __double2hiint(double x) { return int(cudacpu::bits<uint64_t>(x) >> 32); }
inline int __double2loint(double x) { return int(cudacpu::bits<uint64_t>(x)); }
inline double __hiloint2double(int high, int low) {
  return cudacpu::bits<double>(uint64_t(unsigned(high)) << 32 | unsigned(low));
}

// ---- integers -----------------------------------------------------------------------------

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  x = __builtin_bswap32(x);
  x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu);
  x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u);
  return (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u);
}
inline unsigned long long __brevll(unsigned long long x) {
  return uint64_t(__brev(unsigned(x))) << 32 | __brev(unsigned(x >> 32));
}
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  uint64_t bytes = uint64_t(high) << 32 | low;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    unsigned select = selector >> (4 * i) & 7;  // PTX's fourth bit, for the sign, is not used
    result |= (unsigned(bytes >> (8 * select)) & 0xff) << (8 * i);
  }
  return result;
}
inline int __mulhi(int a, int b) { return int((int64_t(a) * b) >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((uint64_t(a) * b) >> 32); }
inline long long __mul64hi(long long a, long long b) {
  return (long long)((static_cast<__int128>(a) * b) >> 64);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((static_cast<unsigned __int128>(a) * b) >> 64);
}
inline int __mul24(int a, int b) { return int(unsigned(a << 8 >> 8) * unsigned(b << 8 >> 8)); }
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
inline unsigned __sad(int a, int b, unsigned c) {
  return (a > b ? unsigned(a) - unsigned(b) : unsigned(b) - unsigned(a)) + c;
}
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
inline int __hadd(int a, int b) { return int((int64_t(a) + b) >> 1); }
inline int __rhadd(int a, int b) { return int((int64_t(a) + b + 1) >> 1); }
inline unsigned __uhadd(unsigned a, unsigned b) { return unsigned((uint64_t(a) + b) >> 1); }
inline unsigned __urhadd(unsigned a, unsigned b) { return unsigned((uint64_t(a) + b + 1) >> 1); }
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return unsigned((uint64_t(high) << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return unsigned((uint64_t(high) << 32 | low) >> (shift & 31));
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
inline int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 32; i += 8) c += int(int8_t(a >> i)) * int8_t(b >> i);
  return c;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 32; i += 8) c += (a >> i & 0xff) * (b >> i & 0xff);
  return c;
}
inline int __dp4a(char4 a, char4 b, int c) {
  return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
inline unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
  return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
