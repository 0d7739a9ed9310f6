// Whole solutions as contestants write them.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

#include <algorithm>
#include <cub/cub.cuh>

using namespace nvcuda;

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

// ---- C = alpha A B + beta C: tensor cores, two buffers, cp.async, tails of any size ----------

constexpr int BM = 64, BN = 32, BK = 16, WARPS = 8, PAD = 8;

__global__ void __launch_bounds__(WARPS * 32)
hgemm(const half* __restrict__ A, const half* __restrict__ B, float* __restrict__ C, int M, int N,
      int K, float alpha, float beta) {
  __shared__ __align__(32) half As[2][BM][BK + PAD];
  __shared__ __align__(32) half Bs[2][BK][BN + PAD];
  __shared__ __align__(32) float Cs[WARPS][16][16 + 4];
  const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int warp_row = warp / 2 * 16, warp_col = warp % 2 * 16;

  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
  wmma::fill_fragment(acc, 0.0f);

  // Eight halves at a time where they are all there and aligned, else one by one.
  auto fetch = [&](half* to, const half* from, int row, int col, int rows, int cols) {
    const half* source = from + size_t(row) * cols + col;
    if (row < rows && col + 8 <= cols && reinterpret_cast<size_t>(source) % 16 == 0) {
      __pipeline_memcpy_async(to, source, 16);
      return;
    }
    for (int i = 0; i < 8; ++i) {
      to[i] = row < rows && col + i < cols ? source[i] : __float2half(0.0f);
    }
  };
  auto load = [&](int k0, int buffer) {
    for (int i = tid * 8; i < BM * BK; i += blockDim.x * 8) {
      fetch(&As[buffer][i / BK][i % BK], A, row0 + i / BK, k0 + i % BK, M, K);
    }
    for (int i = tid * 8; i < BK * BN; i += blockDim.x * 8) {
      fetch(&Bs[buffer][i / BN][i % BN], B, k0 + i / BN, col0 + i % BN, K, N);
    }
    __pipeline_commit();
  };

  load(0, 0);
  for (int k0 = 0, buffer = 0; k0 < K; k0 += BK, buffer ^= 1) {
    if (k0 + BK < K) load(k0 + BK, buffer ^ 1);
    __pipeline_wait_prior(k0 + BK < K ? 1 : 0);
    __syncthreads();
    wmma::load_matrix_sync(a, &As[buffer][warp_row][0], BK + PAD);
    wmma::load_matrix_sync(b, &Bs[buffer][0][warp_col], BN + PAD);
    wmma::mma_sync(acc, a, b, acc);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < acc.num_elements; ++i) acc.x[i] *= alpha;
  wmma::store_matrix_sync(&Cs[warp][0][0], acc, 16 + 4, wmma::mem_row_major);
  __syncwarp();
  for (int i = lane; i < 256; i += 32) {
    const int row = row0 + warp_row + i / 16, col = col0 + warp_col + i % 16;
    if (row < M && col < N) {
      float& c = C[size_t(row) * N + col];
      c = Cs[warp][i / 16][i % 16] + beta * c;
    }
  }
}

extern "C" void gemm(const half* a, const half* b, float* c, int m, int n, int k, float alpha,
                     float beta) {
  dim3 grid(CEIL_DIV(n, BN), CEIL_DIV(m, BM));
  hgemm<<<grid, WARPS * 32>>>(a, b, c, m, n, k, alpha, beta);
}

// ---- prefix sums of any length: blocks, their totals, and back ------------------------------

constexpr int SCAN_THREADS = 128, SCAN_ITEMS = 4, SCAN_TILE = SCAN_THREADS * SCAN_ITEMS;

template <bool EXCLUSIVE>
__global__ void scan_tiles(const int* in, int* out, int* totals, int n) {
  using Load = cub::BlockLoad<int, SCAN_THREADS, SCAN_ITEMS, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<int, SCAN_THREADS, SCAN_ITEMS, cub::BLOCK_STORE_TRANSPOSE>;
  using Scan = cub::BlockScan<int, SCAN_THREADS, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ union Storage {
    typename Load::TempStorage load;
    typename Scan::TempStorage scan;
    typename Store::TempStorage store;
  } storage;
  const int first = blockIdx.x * SCAN_TILE, valid = std::min(n - first, int(SCAN_TILE));
  int items[SCAN_ITEMS], total;
  Load(storage.load).Load(in + first, items, valid, 0);
  __syncthreads();
  if (EXCLUSIVE) {
    Scan(storage.scan).ExclusiveSum(items, items, total);
  } else {
    Scan(storage.scan).InclusiveSum(items, items, total);
  }
  __syncthreads();
  Store(storage.store).Store(out + first, items, valid);
  if (threadIdx.x == 0 && totals) totals[blockIdx.x] = total;
}

__global__ void add(int* out, const int* before, int n) {
  const int i = blockIdx.x * SCAN_TILE + threadIdx.x;
  for (int k = 0; k < SCAN_ITEMS; ++k) {
    const int at = i + k * SCAN_THREADS;
    if (at < n) out[at] += before[blockIdx.x];
  }
}

extern "C" void scan(const int* in, int* out, int n) {
  const int blocks = CEIL_DIV(n, SCAN_TILE);
  int* totals;
  cudaMalloc(&totals, blocks * sizeof(int));
  scan_tiles<false><<<blocks, SCAN_THREADS>>>(in, out, totals, n);
  if (blocks > 1) {
    scan_tiles<true><<<1, SCAN_THREADS>>>(totals, totals, nullptr, blocks);
    add<<<blocks, SCAN_THREADS>>>(out, totals, n);
  }
  cudaFree(totals);
}

// ---- softmax: a warp per short row, a block per long one, one pass over memory ---------------

struct Partial {
  float largest, sum;
};
struct Combine {
  __device__ Partial operator()(const Partial& a, const Partial& b) const {
    const Partial& high = a.largest > b.largest ? a : b;
    const Partial& low = a.largest > b.largest ? b : a;
    if (low.sum == 0) return high;
    return {high.largest, high.sum + low.sum * __expf(low.largest - high.largest)};
  }
};

template <class Reduce, class Storage>
__device__ void softmax_row(const float* x, float* y, int n, int rank, int size, Storage& storage,
                            Partial* shared) {
  Partial mine{-INFINITY, 0};
  for (int i = rank; i < n; i += size) mine = Combine()(mine, Partial{x[i], 1});
  mine = Reduce(storage).Reduce(mine, Combine());
  if (rank == 0) *shared = mine;
  if (size > 32) __syncthreads(); else __syncwarp();
  for (int i = rank; i < n; i += size) y[i] = expf(x[i] - shared->largest) / shared->sum;
}

__global__ void exp(const float* x, float* y, int n) {
  using Reduce = cub::BlockReduce<Partial, 256>;
  __shared__ typename Reduce::TempStorage storage;
  __shared__ Partial shared;
  softmax_row<Reduce>(x + size_t(blockIdx.x) * n, y + size_t(blockIdx.x) * n, n, threadIdx.x, 256,
                      storage, &shared);
}

__global__ void exp(const float* x, float* y, int n, int rows) {
  using Reduce = cub::WarpReduce<Partial>;
  __shared__ typename Reduce::TempStorage storage[8];
  __shared__ Partial shared[8];
  const int warp = threadIdx.x / 32, row = blockIdx.x * 8 + warp;
  if (row >= rows) return;
  softmax_row<Reduce>(x + size_t(row) * n, y + size_t(row) * n, n, threadIdx.x % 32, 32,
                      storage[warp], &shared[warp]);
}

extern "C" void softmax(const float* x, float* y, int m, int n) {
  if (n <= 128) {
    exp<<<CEIL_DIV(m, 8), 256>>>(x, y, n, m);
  } else {
    exp<<<m, 256>>>(x, y, n);
  }
}
