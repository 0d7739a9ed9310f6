// Matrix products of a warp: every type and shape of mma.h, with rows that lie apart.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <type_traits>

using namespace nvcuda;

using tf32 = wmma::precision::tf32;

template <class T> struct Stored { using type = T; };
template <> struct Stored<tf32> { using type = float; };

template <class T> constexpr bool is_half = false;
template <> constexpr bool is_half<__half> = true;

template <class Use, int m, int n, int k, class T, class L = void>
using Fragment = wmma::fragment<Use, m, n, k, T, L>;

// d = a * b + c, then each element of the sum is multiplied by `scale`.
template <int m, int n, int k, class T, class C, class D, class LA, class LB>
__global__ void product(const typename Stored<T>::type* a, const typename Stored<T>::type* b,
                        const C* c, D* d, int lda, int ldb, int ldc, wmma::layout_t layout,
                        int scale, bool satf) {
  Fragment<wmma::matrix_a, m, n, k, T, LA> left;
  Fragment<wmma::matrix_b, m, n, k, T, LB> right;
  Fragment<wmma::accumulator, m, n, k, C> before;
  Fragment<wmma::accumulator, m, n, k, D> sum;
  wmma::load_matrix_sync(left, a, lda);
  wmma::load_matrix_sync(right, b, ldb);
  wmma::load_matrix_sync(before, c, ldc, layout);
  if constexpr (sizeof(typename Stored<T>::type) == 1) {
    wmma::mma_sync(sum, left, right, before, satf);
  } else {
    wmma::mma_sync(sum, left, right, before);
  }
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = sum.x[i] * D(scale);
  wmma::store_matrix_sync(d, sum, ldc, layout);
}

#define CASE(name, m, n, k, T, C, D)                                                           \
  static_assert(Fragment<wmma::accumulator, m, n, k, D>::num_elements == m * n / 32, "");      \
  static_assert(Fragment<wmma::matrix_a, m, n, k, T, wmma::row_major>::num_elements ==         \
                    (is_half<T> ? 16 : m * k / 32), "");                   \
  static_assert(Fragment<wmma::matrix_b, m, n, k, T, wmma::row_major>::num_elements ==         \
                    (is_half<T> ? 16 : k * n / 32), "");                   \
  extern "C" void name(const Stored<T>::type* a, const Stored<T>::type* b, const C* c, D* d,   \
                       int a_rows, int b_rows, int c_rows, int lda, int ldb, int ldc,          \
                       int scale, int satf) {                                                  \
    const auto layout = c_rows ? wmma::mem_row_major : wmma::mem_col_major;                    \
    auto kernel = product<m, n, k, T, C, D, wmma::row_major, wmma::row_major>;                 \
    if (!a_rows) kernel = product<m, n, k, T, C, D, wmma::col_major, wmma::col_major>;         \
    if (a_rows != b_rows) kernel = nullptr;                                                    \
    if constexpr (std::is_same_v<T, __half> && std::is_same_v<C, float> && sizeof(D) == 4) {   \
      if (a_rows > b_rows) kernel = product<m, n, k, T, C, D, wmma::row_major, wmma::col_major>; \
      if (a_rows < b_rows) kernel = product<m, n, k, T, C, D, wmma::col_major, wmma::row_major>; \
    }                                                                                          \
    kernel<<<1, 32>>>(a, b, c, d, lda, ldb, ldc, layout, scale, satf);                         \
  }

#define SHAPES(X, name, ...)             \
  X(name##_16x16, 16, 16, 16, __VA_ARGS__) \
  X(name##_32x8, 32, 8, 16, __VA_ARGS__)   \
  X(name##_8x32, 8, 32, 16, __VA_ARGS__)
SHAPES(CASE, half_float, __half, float, float)
SHAPES(CASE, half_half, __half, __half, __half)
SHAPES(CASE, bfloat, __nv_bfloat16, float, float)
SHAPES(CASE, signed, signed char, int, int)
SHAPES(CASE, unsigned, unsigned char, int, int)
CASE(half_up_16x16, 16, 16, 16, __half, __half, float)
CASE(half_down_16x16, 16, 16, 16, __half, float, __half)
CASE(tf32_16x16, 16, 16, 8, tf32, float, float)
CASE(double_8x8, 8, 8, 4, double, double, double)

__global__ void round_to_tf32(const float* x, float* y) {
  y[threadIdx.x] = wmma::__float_to_tf32(x[threadIdx.x]);
}
extern "C" void to_tf32(const float* x, float* y, int n) { round_to_tf32<<<1, n>>>(x, y); }

// A kernel that relies on which lane holds which element, as it is on every GPU since Ampere.
__global__ void label(float* out) {
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  for (int i = 0; i < 8; ++i) sum.x[i] = threadIdx.x * 8 + i;
  wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);
}
extern "C" void labels(float* out) { label<<<1, 32>>>(out); }
