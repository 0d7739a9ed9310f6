// Complex numbers as CUDA C++ has them: a pair, and functions on it. Written from their definitions;
// quotients and magnitudes are scaled, so that they neither overflow nor vanish on the way.
#pragma once
#include <math.h>

#include "cuda_runtime.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define CUDACPU_COMPLEX(C, R, f, make)                                                     \
  inline C make(R real, R imaginary) { return {real, imaginary}; }                         \
  inline R cuCreal##f(C a) { return a.x; }                                                 \
  inline R cuCimag##f(C a) { return a.y; }                                                 \
  inline C cuConj##f(C a) { return {a.x, -a.y}; }                                          \
  inline C cuCadd##f(C a, C b) { return {a.x + b.x, a.y + b.y}; }                          \
  inline C cuCsub##f(C a, C b) { return {a.x - b.x, a.y - b.y}; }                          \
  inline C cuCmul##f(C a, C b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }  \
  inline C cuCfma##f(C a, C b, C c) {                                                      \
    R x = fma##f(a.x, b.x, c.x), y = fma##f(a.x, b.y, c.y);                                \
    return {fma##f(-a.y, b.y, x), fma##f(a.y, b.x, y)};                                    \
  }                                                                                        \
  inline C cuCdiv##f(C a, C b) {                                                           \
    R scale = R(1) / (fabs##f(b.x) + fabs##f(b.y));                                        \
    a = {a.x * scale, a.y * scale};                                                        \
    b = {b.x * scale, b.y * scale};                                                        \
    R over = R(1) / (b.x * b.x + b.y * b.y);                                               \
    return {(a.x * b.x + a.y * b.y) * over, (a.y * b.x - a.x * b.y) * over};               \
  }                                                                                        \
  inline R cuCabs##f(C a) { return hypot##f(a.x, a.y); }

CUDACPU_COMPLEX(cuFloatComplex, float, f, make_cuFloatComplex)
CUDACPU_COMPLEX(cuDoubleComplex, double, , make_cuDoubleComplex)
#undef CUDACPU_COMPLEX

inline cuComplex make_cuComplex(float real, float imaginary) { return {real, imaginary}; }
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return {a.x, a.y}; }
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) {
  return {static_cast<float>(a.x), static_cast<float>(a.y)};
}
