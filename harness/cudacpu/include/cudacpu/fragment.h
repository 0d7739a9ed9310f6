// wmma's fragments: which element of a matrix each lane of a warp holds, and where it is in memory.
#pragma once
#include "small_float.h"

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision { struct tf32; }

}  // namespace wmma
}  // namespace nvcuda

namespace cudacpu {

using namespace nvcuda;

template <class T> struct FragmentStorage { using type = T; };
template <> struct FragmentStorage<wmma::precision::tf32> { using type = float; };

template <class T> constexpr bool is_half = false;
template <> constexpr bool is_half<Small<struct Binary16>> = true;
template <class T> constexpr bool is_brain = false;
template <> constexpr bool is_brain<Small<struct Brain16>> = true;
template <class T>
constexpr bool is_byte = std::is_same_v<T, signed char> || std::is_same_v<T, unsigned char>;

// The shapes and types of CUDA's header, without those of 4 and 1 bits.
template <class Use, int m, int n, int k, class T, class Layout>
constexpr bool is_fragment() {
  constexpr bool is_factor = !std::is_same_v<Use, wmma::accumulator>;
  constexpr bool of_16 =
      k == 16 && ((m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32));
  constexpr bool of_tf32 = m == 16 && n == 16 && k == 8, of_double = m == 8 && n == 8 && k == 4;
  if (is_factor == std::is_void_v<Layout>) return false;
  if (std::is_same_v<T, double>) return of_double;
  if (is_half<T>) return of_16;
  if (is_factor) {
    return std::is_same_v<T, wmma::precision::tf32> ? of_tf32
                                                    : of_16 && (is_brain<T> || is_byte<T>);
  }
  return std::is_same_v<T, float> ? of_16 || of_tf32 : std::is_same_v<T, int> && of_16;
}

struct Cell {
  int row, column;
};

// The matrix that a fragment is a part of, and the part: element `i` of `lane` is cell(i, lane).
template <class Use, int m, int n, int k, class T>
struct FragmentShape {
  static constexpr bool is_a = std::is_same_v<Use, wmma::matrix_a>;
  static constexpr bool is_factor = is_a || std::is_same_v<Use, wmma::matrix_b>;
  static constexpr int rows = std::is_same_v<Use, wmma::matrix_b> ? k : m;
  static constexpr int columns = is_a ? k : n;
  static constexpr int distinct = rows * columns / 32;
  // Factors of halves are held more than once, as on every GPU since Volta.
  static constexpr int elements = is_factor && is_half<T> ? 16 : distinct;

  // Accumulators lie in the lanes as on GPUs since Ampere, though CUDA promises no order.
  static constexpr Cell cell(int i, int lane) {
    if constexpr (is_factor) {
      const int place = i % distinct * 32 + lane;
      return {place / columns, place % columns};
    } else {
      const int high = lane / 4 + i / 2 % 2 * 8, low = lane % 4 * 2 + i % 2;
      if (m == 8 && n == 32) return {low, high + i / 4 * 16};
      return m == 32 ? Cell{high + i / 4 * 16, low} : Cell{high, low + i / 4 * 8};
    }
  }

  // What a GPU's accesses must be aligned to, by the instructions that nvcc 13.0 makes for sm_90:
  // ldmatrix from shared memory, pairs of neighbours elsewhere.
  static size_t alignment(bool is_row_major, bool is_shared) {
    if constexpr (is_factor) {
      const bool along_k = is_row_major == is_a;
      if (is_half<T>) return is_shared ? 16 : 4;
      if (is_byte<T>) return along_k ? is_shared ? 16 : 4 : 1;
      return is_brain<T> || sizeof(typename FragmentStorage<T>::type) == 4 ? 4 : 8;
    } else {
      const bool pairs = is_row_major == (m != 8 || n != 32);
      return is_half<T> ? 4 : pairs ? 2 * sizeof(T) : sizeof(T);
    }
  }
};

}  // namespace cudacpu

namespace nvcuda {
namespace wmma {

template <class Use, int m, int n, int k, class T, class Layout = void>
struct __attribute__((aligned(8))) fragment {
  static_assert(cudacpu::is_fragment<Use, m, n, k, T, Layout>(),
                "mma.h has no fragment of this use, shape, type and layout");
  using Shape = cudacpu::FragmentShape<Use, m, n, k, T>;
  using element_type = T;
  using storage_element_type = typename cudacpu::FragmentStorage<T>::type;
  enum { num_elements = Shape::elements, num_storage_elements = Shape::elements };
  storage_element_type x[num_elements];

  // A fragment that nobody fills shows: it is NaN.
  fragment() { memset(static_cast<void*>(x), 0xff, sizeof x); }
};

}  // namespace wmma
}  // namespace nvcuda
