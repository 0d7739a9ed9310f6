// Numbers: intrinsics, and the 16-bit types against oracles in Python.
#include <climits>
#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math_constants.h>

using namespace std;  // as many submissions do

template <class T> struct Of;
template <> struct Of<half> {
  static __device__ half from(float f) { return __float2half(f); }
  static __device__ half from_double(double d) { return __double2half(d); }
  static __device__ float to(half h) { return __half2float(h); }
};
template <> struct Of<__nv_bfloat16> {
  static __device__ __nv_bfloat16 from(float f) { return __float2bfloat16(f); }
  static __device__ __nv_bfloat16 from_double(double d) { return __double2bfloat16(d); }
  static __device__ float to(__nv_bfloat16 h) { return __bfloat162float(h); }
};

template <class T> __global__ void decode(const T *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = Of<T>::to(x[i]);
}
template <class T> __global__ void encode(const double *x, T *from_float, T *from_double, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  from_float[i] = Of<T>::from((float)x[i]);
  from_double[i] = Of<T>::from_double(x[i]);
}
// out[k * n + i]: +, -, *, /, fma, sqrt, min, max
template <class T> __global__ void operate(const T *a, const T *b, const T *c, T *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = a[i] + b[i];
  out[n + i] = __hsub(a[i], b[i]);
  out[2 * n + i] = a[i] * b[i];
  out[3 * n + i] = a[i] / b[i];
  out[4 * n + i] = __hfma(a[i], b[i], c[i]);
  out[5 * n + i] = hsqrt(a[i]);
  out[6 * n + i] = __hmin(a[i], b[i]);
  out[7 * n + i] = __hmax(a[i], b[i]);
}

#define FOR_TYPE(T, name)                                                                       \
  extern "C" void decode_##name(const T *x, float *y, int n) {                                  \
    decode<<<(n + 255) / 256, 256>>>(x, y, n);                                                  \
  }                                                                                             \
  extern "C" void encode_##name(const double *x, T *f, T *d, int n) {                           \
    encode<T><<<(n + 255) / 256, 256>>>(x, f, d, n);                                            \
  }                                                                                             \
  extern "C" void operate_##name(const T *a, const T *b, const T *c, T *out, int n) {           \
    operate<<<(n + 255) / 256, 256>>>(a, b, c, out, n);                                         \
  }
FOR_TYPE(half, float16)
FOR_TYPE(__nv_bfloat16, bfloat16)

__global__ void directed(const float *x, half *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = __float2half_rn(x[i]);
  out[n + i] = __float2half_rz(x[i]);
  out[2 * n + i] = __float2half_ru(x[i]);
  out[3 * n + i] = __float2half_rd(x[i]);
}
extern "C" void directed_half(const float *x, half *out, int n) {
  directed<<<(n + 255) / 256, 256>>>(x, out, n);
}

// out[(4 * operation + direction) * n + i], directions rn, rz, ru, rd
__global__ void directed_floats(const float *a, const float *b, const float *c, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = a[i], y = b[i], z = c[i], *o = out + i;
#define ALL(k, name, ...)                  \
  o[(4 * k) * n] = name##_rn(__VA_ARGS__);     \
  o[(4 * k + 1) * n] = name##_rz(__VA_ARGS__); \
  o[(4 * k + 2) * n] = name##_ru(__VA_ARGS__); \
  o[(4 * k + 3) * n] = name##_rd(__VA_ARGS__);
  ALL(0, __fadd, x, y)
  ALL(1, __fmul, x, y)
  ALL(2, __fdiv, x, y)
  ALL(3, __fmaf, x, y, z)
}
extern "C" void directed_float(const float *a, const float *b, const float *c, float *o, int n) {
  directed_floats<<<(n + 255) / 256, 256>>>(a, b, c, o, n);
}

// Writes the line of the first expectation that failed, else 0.
#define EXPECT(condition) do { if (!(condition)) { *failed = __LINE__; return; } } while (0)
__global__ void scalars(int *failed) {
  *failed = 0;
  EXPECT(__popc(0xf0f0u) == 8 && __popcll(1ull << 63) == 1);
  EXPECT(__clz(1) == 31 && __clz(0) == 32 && __clzll(1) == 63);
  EXPECT(__ffs(0) == 0 && __ffs(8) == 4 && __ffsll(1ll << 40) == 41);
  EXPECT(__brev(1u) == 0x80000000u && __brevll(1ull) == 1ull << 63);
  EXPECT(__byte_perm(0x33221100u, 0x77665544u, 0x7250) == 0x77225500u);
  EXPECT(__byte_perm(0x80u, 0, 0x8888) == 0x80808080u);
  EXPECT(__umulhi(0x80000000u, 6u) == 3 && __mulhi(-2, 3) == -1);
  EXPECT(__umul64hi(1ull << 63, 6) == 3 && __mul24(-3, 5) == -15);
  EXPECT(__dp4a(0x01020304, 0x01010101, 5) == 15 && __dp4a(0xffu, 2u, 1u) == 511u);
  EXPECT(__funnelshift_l(0x80000000u, 1u, 1) == 3u && __funnelshift_r(0u, 1u, 1) == 0x80000000u);
  EXPECT(__sad(3, -4, 1) == 8 && __hadd(3, 6) == 4);
  EXPECT(__float_as_int(1.0f) == 0x3f800000 && __uint_as_float(0x40000000u) == 2.0f);
  EXPECT(__hiloint2double(0x3ff00000, 0) == 1.0 && __double2hiint(1.0) == 0x3ff00000);
  EXPECT(__float2int_rn(2.5f) == 2 && __float2int_rz(-2.7f) == -2 && __float2int_ru(2.1f) == 3);
  EXPECT(__float2int_rd(-2.1f) == -3 && __float2int_rz(1e20f) == 2147483647);
  EXPECT(__float2uint_rz(-1.0f) == 0 && __float2int_rn(CUDART_NAN_F) == 0);
  EXPECT(__float2ll_rz(CUDART_NAN_F) == LLONG_MIN && __double2int_rz(CUDART_NAN) == INT_MIN);
  EXPECT(__int2float_rz(16777217) == 16777216.0f && __int2float_ru(16777217) == 16777218.0f);
  EXPECT(__saturatef(1.5f) == 1.0f && __saturatef(-1.0f) == 0.0f && __saturatef(CUDART_NAN_F) == 0);
  EXPECT(rsqrtf(4.0f) == 0.5f && rsqrt(4.0) == 0.5 && __frcp_rn(4.0f) == 0.25f);
  EXPECT(__fdividef(1.0f, 4.0f) == 0.25f && __fsqrt_rn(9.0f) == 3.0f);
  EXPECT(fabsf(__expf(1.0f) - 2.7182817f) < 1e-5f && fabsf(__logf(2.0f) - 0.6931472f) < 1e-6f);
  EXPECT(fabsf(__powf(2.0f, 0.5f) - 1.4142135f) < 1e-6f && exp10f(2.0f) == 100.0f);
  EXPECT(fabsf(__sinf(1.0f) - sinf(1.0f)) < 1e-6f && fabsf(sinpif(0.5f) - 1.0f) < 1e-6f);
  EXPECT(fabsf(normcdff(0.0f) - 0.5f) < 1e-7f && erff(0.0f) == 0.0f && tanhf(0.0f) == 0.0f);
  EXPECT(min(3, 4) == 3 && max(3u, 4u) == 4u && min(1.0f, 2.0f) == 1.0f && max(1.0, 2.0) == 2.0);
  EXPECT(max(-1, 0) == 0 && min(3ll, -4ll) == -4ll && fmaxf(CUDART_NAN_F, 1.0f) == 1.0f);
  EXPECT(std::fabs(-1.0f) == 1.0f && std::sqrt(4.0f) == 2.0f && pow(2.0f, 3.0f) == 8.0f);
  EXPECT(abs(-3) == 3 && abs(-3.5f) == 3.5f && isnan(CUDART_NAN) && isinf(CUDART_INF_F));
  EXPECT(fmaf(2.0f, 3.0f, 4.0f) == 10.0f && __fmaf_rn(2.0f, 3.0f, 4.0f) == 10.0f);
  int4 q = make_int4(1, 2, 3, 4);
  float3 f3 = make_float3(1, 2, 3);
  EXPECT(q.w == 4 && f3.z == 3 && sizeof(float3) == 12 && alignof(float4) == 16);
  EXPECT(sizeof(uchar4) == 4 && alignof(char2) == 2 && sizeof(dim3) == 12 && alignof(double2) == 16);
  half h = 1.5f;
  half2 hh = __float2half2_rn(2.0f), h3 = __halves2half2(h, h);
  h += half(0.25f);
  EXPECT((float)h == 1.75f && h > half(1.0f) && !(h == half(0.0f)) && -h < half(0.0f));
  EXPECT(__low2float(hh) == 2.0f && __half22float2(h3).y == 1.5f && __high2float(hh * h3) == 3.0f);
  EXPECT((float)__low2half(__hfma2(hh, h3, hh)) == 5.0f && __hbeq2(hh, hh) && __hgt(h, half(1)));
  EXPECT(fabsf(__half2float(hexp(half(1.0f))) - 2.718f) < 2e-3f && __hisnan(__hdiv(half(0), half(0))));
  EXPECT(__half2int_rn(half(2.5f)) == 2 && (float)__int2half_rn(2049) == 2048.0f);
  EXPECT(__half_as_ushort(half(1.0f)) == 0x3c00 && (float)__ushort_as_half(0x7bff) == 65504.0f);
  EXPECT((float)__ushort_as_half(1) == 5.9604645e-8f && (float)half(65520.0f) == CUDART_INF_F);
  __nv_bfloat16 b = __float2bfloat16(3.0f);
  __nv_bfloat162 bb = __floats2bfloat162_rn(1.0f, 2.0f);
  EXPECT((float)(b * b) == 9.0f && __bfloat162float(__high2bfloat16(__hadd2(bb, bb))) == 4.0f);
  EXPECT(__bfloat16_as_ushort(__nv_bfloat16(1.0f)) == 0x3f80 && (float)hsqrt(b) > 1.72f);
  EXPECT(sizeof(half) == 2 && sizeof(half2) == 4 && alignof(half2) == 4 && alignof(half) == 2);
}
extern "C" void scalar_checks(int *failed) { scalars<<<1, 1>>>(failed); }

// [VAR] is the problem's type; a plain kernel over it.
__global__ void axpy(const VAR *x, VAR *y, float alpha, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = (VAR)(alpha * (float)x[i] + (float)y[i]);
}
extern "C" void solution(const VAR *x, VAR *y, float alpha, int n) {
  axpy<<<(n + 127) / 128, 128>>>(x, y, alpha, n);
}
