// What a warp can do wrong with its matrices, and which addresses they may have.
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;
using Sum = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

__global__ void never_filled(float* out) {
  Sum sum;
  wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);
}
__global__ void half_a_warp(float* out) {
  Sum sum;
  wmma::fill_fragment(sum, 1.0f);
  if (threadIdx.x < 16) wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);  // HALF
  __syncthreads();
}
__global__ void two_places(float* out) {
  Sum sum;
  wmma::fill_fragment(sum, 1.0f);
  if (threadIdx.x % 2) {
    wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);  // ODD
  } else {
    wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);  // EVEN
  }
}
__global__ void lanes_gone(float* out) {
  Sum sum;
  wmma::fill_fragment(sum, 1.0f);
  if (threadIdx.x == 7) return;
  wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);  // GONE
}
__global__ void changed_by_some(const __half* x, float* out) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
  Sum sum;
  wmma::fill_fragment(sum, 0.0f);
  wmma::load_matrix_sync(a, x, 16);
  wmma::load_matrix_sync(b, x, 16);
  for (int i = 0; i < 8; ++i) a.x[i] = a.x[i] + __half(1.0f);  // of 16
  wmma::mma_sync(sum, a, b, sum);
  wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);
}

extern "C" void wrong(const __half* x, float* out, int which) {
  if (which == 0) never_filled<<<1, 32>>>(out);
  if (which == 1) half_a_warp<<<1, 32>>>(out);
  if (which == 2) two_places<<<1, 32>>>(out);
  if (which == 3) lanes_gone<<<1, 32>>>(out);
  if (which == 4) never_filled<<<1, 16>>>(out);
  if (which == 5) changed_by_some<<<1, 32>>>(x, out);
}

// y is a sum's place; `offset` and `step` are in elements.
__global__ void store_at(float* y, int step, bool rows) {
  Sum sum;
  wmma::fill_fragment(sum, 1.0f);
  wmma::store_matrix_sync(y, sum, step, rows ? wmma::mem_row_major : wmma::mem_col_major);  // STORE
}
__global__ void load_at(const __half* x, int step, bool shared) {
  __shared__ alignas(32) __half tile[16 * 32];
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::load_matrix_sync(a, shared ? tile : x, step);  // LOAD
}
extern "C" void store_even(float* x, float* y, int step) { store_at<<<1, 32>>>(y, step, true); }
extern "C" void store_columns(float* x, float* y, int step) { store_at<<<1, 32>>>(y, step, false); }
extern "C" void load_global(__half* x, float* y, int step) { load_at<<<1, 32>>>(x, step, false); }
extern "C" void load_shared(__half* x, float* y, int step) { load_at<<<1, 32>>>(x, step, true); }
