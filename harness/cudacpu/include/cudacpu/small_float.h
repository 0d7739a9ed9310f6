// The 16-bit floating-point types. Arithmetic is done in float and rounded once: a float has at
// least twice the digits plus two, so the second rounding changes nothing. fma needs more.
#pragma once
#include "atomics.h"
#include "math.h"
#include "warp.h"

namespace cudacpu {

struct SmallRaw { unsigned short x; };
struct PairRaw { unsigned short x, y; };

// To float, the inexact last bit forced odd: rounding that again to fewer digits is then right.
inline float to_odd_float(double high, double low) {
  float nearest = static_cast<float>(high);
  if (nearest - nearest != 0) {
    return high - high == 0 ? (high > 0 ? FLT_MAX : -FLT_MAX) : nearest;
  }
  double error = static_cast<double>(nearest) - high;
  if (error == low) return nearest;
  uint32_t word = bits<uint32_t>(nearest);
  if (word & 1) return nearest;
  return nextafterf(nearest, error > low ? -INFINITY : INFINITY);
}

template <class I>
inline float integer_to_odd_float(I value) {
  double high = static_cast<double>(value);
  __int128 low = static_cast<__int128>(value) - static_cast<__int128>(high);
  return to_odd_float(high, static_cast<double>(low));
}

template <class Format>
struct Small {
  using format = Format;
  unsigned short __x;

  Small() = default;
  Small(const SmallRaw& raw) : __x(raw.x) {}
  Small(float value) : __x(Format::encode(value)) {}
  Small(double value) : __x(Format::encode(to_odd_float(value, 0.0))) {}
  Small(short value) : Small(static_cast<float>(value)) {}
  Small(unsigned short value) : Small(static_cast<float>(value)) {}
  Small(int value) : __x(Format::encode(integer_to_odd_float(value))) {}
  Small(unsigned value) : __x(Format::encode(integer_to_odd_float(value))) {}
  Small(long value) : __x(Format::encode(integer_to_odd_float(value))) {}
  Small(unsigned long value) : __x(Format::encode(integer_to_odd_float(value))) {}
  Small(long long value) : __x(Format::encode(integer_to_odd_float(value))) {}
  Small(unsigned long long value) : __x(Format::encode(integer_to_odd_float(value))) {}
  // Between the two 16-bit types, by way of float.
  template <class Other> explicit Small(const Small<Other>& other) : Small(float(other)) {}

  operator float() const { return Format::decode(__x); }
  operator SmallRaw() const { return {__x}; }
  operator bool() const { return (__x & 0x7fff) != 0; }
  operator signed char() const { return static_cast<signed char>(float(*this)); }
  operator unsigned char() const { return static_cast<unsigned char>(float(*this)); }
  operator char() const { return static_cast<char>(float(*this)); }
  operator short() const { return static_cast<short>(float(*this)); }
  operator unsigned short() const { return static_cast<unsigned short>(float(*this)); }
  operator int() const { return to_integer<int>(float(*this)); }
  operator unsigned() const { return to_integer<unsigned>(float(*this)); }
  operator long() const { return to_integer<long>(float(*this)); }
  operator unsigned long() const { return to_integer<unsigned long>(float(*this)); }
  operator long long() const { return to_integer<long long>(float(*this)); }
  operator unsigned long long() const { return to_integer<unsigned long long>(float(*this)); }

  static Small from_bits(unsigned word) {
    Small result;
    result.__x = static_cast<unsigned short>(word);
    return result;
  }

  friend Small operator+(const Small& a, const Small& b) { return Small(float(a) + float(b)); }
  friend Small operator-(const Small& a, const Small& b) { return Small(float(a) - float(b)); }
  friend Small operator*(const Small& a, const Small& b) { return Small(float(a) * float(b)); }
  friend Small operator/(const Small& a, const Small& b) { return Small(float(a) / float(b)); }
  friend Small operator+(const Small& a) { return a; }
  friend Small operator-(const Small& a) { return from_bits(a.__x ^ 0x8000u); }
  friend Small& operator+=(Small& a, const Small& b) { return a = a + b; }
  friend Small& operator-=(Small& a, const Small& b) { return a = a - b; }
  friend Small& operator*=(Small& a, const Small& b) { return a = a * b; }
  friend Small& operator/=(Small& a, const Small& b) { return a = a / b; }
  friend Small& operator++(Small& a) { return a = a + Small(1.0f); }
  friend Small& operator--(Small& a) { return a = a - Small(1.0f); }
  friend Small operator++(Small& a, int) { Small old = a; return ++a, old; }
  friend Small operator--(Small& a, int) { Small old = a; return --a, old; }
  friend bool operator==(const Small& a, const Small& b) { return float(a) == float(b); }
  friend bool operator!=(const Small& a, const Small& b) { return float(a) != float(b); }
  friend bool operator<(const Small& a, const Small& b) { return float(a) < float(b); }
  friend bool operator>(const Small& a, const Small& b) { return float(a) > float(b); }
  friend bool operator<=(const Small& a, const Small& b) { return float(a) <= float(b); }
  friend bool operator>=(const Small& a, const Small& b) { return float(a) >= float(b); }
};

template <class S>
struct __attribute__((aligned(4))) Pair {
  S x, y;

  Pair() = default;
  Pair(const S& x, const S& y) : x(x), y(y) {}
  Pair(const PairRaw& raw) : x(S::from_bits(raw.x)), y(S::from_bits(raw.y)) {}
  operator PairRaw() const { return {x.__x, y.__x}; }

  friend Pair operator+(const Pair& a, const Pair& b) { return {a.x + b.x, a.y + b.y}; }
  friend Pair operator-(const Pair& a, const Pair& b) { return {a.x - b.x, a.y - b.y}; }
  friend Pair operator*(const Pair& a, const Pair& b) { return {a.x * b.x, a.y * b.y}; }
  friend Pair operator/(const Pair& a, const Pair& b) { return {a.x / b.x, a.y / b.y}; }
  friend Pair operator-(const Pair& a) { return {-a.x, -a.y}; }
  friend Pair& operator+=(Pair& a, const Pair& b) { return a = a + b; }
  friend Pair& operator-=(Pair& a, const Pair& b) { return a = a - b; }
  friend Pair& operator*=(Pair& a, const Pair& b) { return a = a * b; }
  friend Pair& operator/=(Pair& a, const Pair& b) { return a = a / b; }
  friend bool operator==(const Pair& a, const Pair& b) { return a.x == b.x && a.y == b.y; }
  friend bool operator!=(const Pair& a, const Pair& b) { return !(a == b); }
};

// a * b + c rounded once: the product is exact in double, the sum is rounded to odd first.
template <class S>
inline S small_fma(const S& a, const S& b, const S& c) {
  double product = static_cast<double>(float(a)) * float(b), addend = float(c);
  double sum = product + addend;
  return S::from_bits(S::format::encode(to_odd_float(sum, two_sum_error(product, addend, sum))));
}

template <class S>
inline S small_rounded(float value, Rounding rounding) {
  using F = typename S::format;
  uint16_t word = F::encode(value);
  float nearest = F::decode(word);
  if (value != value || nearest == value || rounding == Rounding::nearest) {
    return S::from_bits(word);
  }
  bool up = rounding == Rounding::up || (rounding == Rounding::zero && value < 0);
  if (up == (nearest > value)) return S::from_bits(word);
  // One step towards the wanted side; +0 and -0 are neighbours of both least subnormals.
  if ((word & 0x7fff) == 0) return S::from_bits(up ? 0x0001 : 0x8001);
  bool outwards = up == !(word & 0x8000);
  return S::from_bits(outwards ? word + 1u : word - 1u);
}

template <class S>
inline S small_min(const S& a, const S& b) {
  float x = a, y = b;
  if (x != x) return y != y ? S::from_bits(S::format::nan) : b;
  if (y != y) return a;
  return x < y || (x == y && (a.__x & 0x8000)) ? a : b;
}

template <class S>
inline S small_max(const S& a, const S& b) {
  float x = a, y = b;
  if (x != x) return y != y ? S::from_bits(S::format::nan) : b;
  if (y != y) return a;
  return x > y || (x == y && !(a.__x & 0x8000)) ? a : b;
}

template <class S>
inline S small_saturate(const S& a) {
  return S(__saturatef(float(a)));
}

}  // namespace cudacpu
