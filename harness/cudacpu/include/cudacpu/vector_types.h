// CUDA's built-in vector types with CUDA's sizes and alignments.
#pragma once
#include <stddef.h>

#define CUDACPU_VECTOR(T, name, a2, a4)                                                      \
  struct name##1 { T x; };                                                                   \
  struct __attribute__((aligned(a2))) name##2 { T x, y; };                                   \
  struct name##3 { T x, y, z; };                                                             \
  struct __attribute__((aligned(a4))) name##4 { T x, y, z, w; };                             \
  inline constexpr name##1 make_##name##1(T x) { return {x}; }                               \
  inline constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }                       \
  inline constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }               \
  inline constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

CUDACPU_VECTOR(signed char, char, 2, 4)
CUDACPU_VECTOR(unsigned char, uchar, 2, 4)
CUDACPU_VECTOR(short, short, 4, 8)
CUDACPU_VECTOR(unsigned short, ushort, 4, 8)
CUDACPU_VECTOR(int, int, 8, 16)
CUDACPU_VECTOR(unsigned int, uint, 8, 16)
CUDACPU_VECTOR(long, long, 16, 16)
CUDACPU_VECTOR(unsigned long, ulong, 16, 16)
CUDACPU_VECTOR(long long, longlong, 16, 16)
CUDACPU_VECTOR(unsigned long long, ulonglong, 16, 16)
CUDACPU_VECTOR(float, float, 8, 16)
CUDACPU_VECTOR(double, double, 16, 16)

#undef CUDACPU_VECTOR

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
