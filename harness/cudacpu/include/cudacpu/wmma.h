// A warp's loads, stores and products of matrices. Every lane must arrive, at the same line: the
// last to do so lets the others go on. Products are exact. They are added to the accumulator one
// after the other as k goes up, each sum rounded to nearest: in float (also for accumulators of
// halves, which are rounded at the end), double or 32-bit integers. Of tf32 the last 13 bits of the
// float do not count.
#pragma once
#include "fragment.h"

namespace cudacpu {

template <class Use, class F>
inline void do_nothing(const uint64_t*, uint32_t) {}

inline void call_together(const Together& call) {
  Worker& w = *worker;
  const uint64_t record = reinterpret_cast<uintptr_t>(&call);
  const uint64_t lanes = w.collective(Collective::together, ~0u, record, 0, call.line);
  if (!lanes) {
    w.fail(fault_divergence, "barrier divergence: lanes of one warp are at %s, line %d, and at "
           "another line or operation", call.name, call.line);
  }
  if (const uint32_t missing = ~static_cast<uint32_t>(lanes)) {
    w.fail(fault_divergence, "barrier divergence: %s at line %d takes all 32 lanes of a warp, and "
           "%d of this one have exited or do not exist", call.name, call.line, __popc(missing));
  }
}

// The address of a cell, in a matrix whose rows (or columns) are `step` elements apart.
template <class T>
inline T* at(T* matrix, Cell cell, unsigned step, bool is_row_major) {
  return is_row_major ? matrix + size_t(cell.row) * step + cell.column
                      : matrix + size_t(cell.column) * step + cell.row;
}

template <class Shape, class T>
inline void check_matrix(const char* name, const T* matrix, unsigned step, bool is_row_major,
                         int line) {
#if CUDACPU_ASAN
  const size_t needed = Shape::alignment(is_row_major, __isShared(matrix));
  if (reinterpret_cast<uintptr_t>(matrix) % needed == 0 && step * sizeof(T) % needed == 0) return;
  char what[160];
  snprintf(what, sizeof what, "%s of a matrix whose %s start %zu bytes apart", name,
           is_row_major ? "rows" : "columns", step * sizeof(T));
  misaligned(what, "", needed, nullptr, line);
#else
  (void)name, (void)matrix, (void)step, (void)is_row_major, (void)line;
#endif
}

template <class F, class T>
inline void load_matrix(F& fragment, const T* matrix, unsigned step, bool is_row_major, int line) {
  call_together({"wmma::load_matrix_sync", line, do_nothing<struct Load, F>});
  check_matrix<typename F::Shape>("a load", matrix, step, is_row_major, line);
  for (int i = 0; i < F::num_elements; ++i) {
    fragment.x[i] = *at(matrix, F::Shape::cell(i, int(lane())), step, is_row_major);
  }
}

// ---- products -----------------------------------------------------------------------------

inline float factor(float tf32) { return bits<float>(bits<uint32_t>(tf32) & 0xffffe000u); }
template <class Format> inline float factor(const Small<Format>& value) { return value; }
inline double factor(double value) { return value; }
inline int factor(signed char value) { return value; }
inline int factor(unsigned char value) { return value; }

// Copies of one element that differ belong to no matrix: the lanes changed them differently.
template <class F>
CUDACPU_BARE inline bool is_whole(const F& fragment) {
  const size_t bytes = F::Shape::distinct * sizeof fragment.x[0];
  for (int i = F::Shape::distinct; i < F::num_elements; i += F::Shape::distinct) {
    if (memcmp(&fragment.x[i], &fragment.x[0], bytes) != 0) return false;
  }
  return true;
}

// c += a * b, a row of c after the other.
template <int m, int n, int k, class Sum>
CUDACPU_BARE CUDACPU_NOINLINE inline void multiply(const Sum (&a)[m][k], const Sum (&b)[k][n],
                                                   Sum (&c)[m][n]) {
  typedef Sum Vector __attribute__((vector_size(16), may_alias));
  constexpr int width = 16 / sizeof(Sum), vectors = n / width;
  for (int row = 0; row < m; ++row) {
    Vector* sums = reinterpret_cast<Vector*>(c[row]);
    for (int p = 0; p < k; ++p) {
      const Vector* terms = reinterpret_cast<const Vector*>(b[p]);
      for (int j = 0; j < vectors; ++j) sums[j] += a[row][p] * terms[j];
    }
  }
}

inline int limited(long long sum) {
  return sum > INT_MAX ? INT_MAX : sum < INT_MIN ? INT_MIN : static_cast<int>(sum);
}

// The same in 64 bits; what leaves the range of an int stays at its end.
template <int m, int n, int k>
inline void multiply_limited(const int (&a)[m][k], const int (&b)[k][n], int (&c)[m][n]) {
  for (int row = 0; row < m; ++row) {
    for (int column = 0; column < n; ++column) {
      long long sum = c[row][column];
      for (int p = 0; p < k; ++p) sum += a[row][p] * b[p][column];
      c[row][column] = limited(sum);
    }
  }
}

template <int m, int n, int k, class A, class B, class C, class D>
struct Product : Together {
  D* d;
  const A* a;
  const B* b;
  const C* c;
  bool limit;

  Product(D* d, const A* a, const B* b, const C* c, bool limit, int line)
      : Together{"wmma::mma_sync", line, &multiply_all}, d(d), a(a), b(b), c(c), limit(limit) {}

  using Wide = typename D::storage_element_type;
  using Sum = std::conditional_t<is_half<Wide>, float, Wide>;

  static const Product& of(uint64_t lane) {
    return *static_cast<const Product*>(reinterpret_cast<const Together*>(lane));
  }

  static void multiply_all(const uint64_t* lanes, uint32_t arrived) {
    if (arrived != ~0u) return;
    alignas(16) Sum left[m][k], right[k][n], sums[m][n];
    bool whole = true;
    for (int lane = 0; lane < 32; ++lane) {
      const Product& p = of(lanes[lane]);
      whole = whole && is_whole(*p.a) && is_whole(*p.b);
      for (int i = 0; i < A::Shape::distinct; ++i) put(left, A::Shape::cell(i, lane), p.a->x[i]);
      for (int i = 0; i < B::Shape::distinct; ++i) put(right, B::Shape::cell(i, lane), p.b->x[i]);
      for (int i = 0; i < C::Shape::distinct; ++i) {
        const Cell cell = C::Shape::cell(i, lane);
        sums[cell.row][cell.column] = static_cast<Sum>(p.c->x[i]);
      }
    }
    product(left, right, sums, of(lanes[0]).limit);
    for (int lane = 0; lane < 32; ++lane) {
      D& result = *of(lanes[lane]).d;
      for (int i = 0; i < D::num_elements; ++i) {
        const Cell cell = D::Shape::cell(i, lane);
        result.x[i] = static_cast<Wide>(sums[cell.row][cell.column]);
      }
      if (!whole) memset(static_cast<void*>(result.x), 0xff, sizeof result.x);
    }
  }

  template <class Row, class T>
  static void put(Row* matrix, Cell cell, const T& value) {
    matrix[cell.row][cell.column] = static_cast<Sum>(factor(value));
  }

  static void product(const Sum (&left)[m][k], const Sum (&right)[k][n], Sum (&sums)[m][n],
                      bool limit) {
    if constexpr (std::is_same_v<Sum, int>) {
      if (limit) return multiply_limited(left, right, sums);
    }
    multiply(left, right, sums);
  }
};

}  // namespace cudacpu

namespace nvcuda {
namespace wmma {

// The float nearest to `value` that tf32 has, of two the one away from zero.
inline float __float_to_tf32(float value) {
  const uint32_t word = cudacpu::bits<uint32_t>(value);
  if (value != value) return cudacpu::bits<float>(0x7fffffffu);
  return cudacpu::bits<float>((word + 0x1000u) & 0xffffe000u);
}

template <class Use, int m, int n, int k, class T, class L>
inline void fill_fragment(
    fragment<Use, m, n, k, T, L>& f,
    const typename fragment<Use, m, n, k, T, L>::storage_element_type& value) {
  for (auto& element : f.x) element = value;
}

template <class Use, int m, int n, int k, class T, class L,
          class = std::enable_if_t<!std::is_void_v<L>>>
inline void load_matrix_sync(
    fragment<Use, m, n, k, T, L>& f,
    const typename fragment<Use, m, n, k, T, L>::storage_element_type* matrix, unsigned step,
    CUDACPU_LINE) {
  cudacpu::load_matrix(f, matrix, step, std::is_same_v<L, row_major>, line);
}

template <int m, int n, int k, class T>
inline void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, const T* matrix, unsigned step,
                             layout_t layout, CUDACPU_LINE) {
  cudacpu::load_matrix(f, matrix, step, layout == mem_row_major, line);
}

template <int m, int n, int k, class T>
inline void store_matrix_sync(T* matrix, const fragment<accumulator, m, n, k, T>& f, unsigned step,
                              layout_t layout, CUDACPU_LINE) {
  using F = fragment<accumulator, m, n, k, T>;
  const bool is_row_major = layout == mem_row_major;
  cudacpu::call_together(
      {"wmma::store_matrix_sync", line, cudacpu::do_nothing<struct Store, F>});
  cudacpu::check_matrix<typename F::Shape>("a store", matrix, step, is_row_major, line);
  for (int i = 0; i < F::num_elements; ++i) {
    *cudacpu::at(matrix, F::Shape::cell(i, int(cudacpu::lane())), step, is_row_major) = f.x[i];
  }
}

template <int m, int n, int k, class D, class A, class LA, class B, class LB, class C>
inline void mma_sync(fragment<accumulator, m, n, k, D>& d,
                     const fragment<matrix_a, m, n, k, A, LA>& a,
                     const fragment<matrix_b, m, n, k, B, LB>& b,
                     const fragment<accumulator, m, n, k, C>& c, bool satf = false,
                     CUDACPU_LINE) {
  static_assert(std::is_same_v<A, B>, "mma.h has no product of these types");
  static_assert(std::is_same_v<C, D> || cudacpu::is_half<A>, "mma.h has no product of these types");
  static_assert(!cudacpu::is_half<C> || cudacpu::is_half<A>, "mma.h has no product of these types");
  static_assert(std::is_same_v<D, int> == cudacpu::is_byte<A>,
                "mma.h has no product of these types");
  const cudacpu::Product<m, n, k, fragment<matrix_a, m, n, k, A, LA>,
                         fragment<matrix_b, m, n, k, B, LB>, fragment<accumulator, m, n, k, C>,
                         fragment<accumulator, m, n, k, D>>
      product(&d, &a, &b, &c, satf, line);
  cudacpu::call_together(product);
}

}  // namespace wmma
}  // namespace nvcuda
