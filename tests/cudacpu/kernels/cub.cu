// cub's operations of blocks and warps.
#include <cub/block/block_load.cuh>
#include <cub/block/block_store.cuh>
#include <cub/cub.cuh>
#include <cuda/functional>
#include <cuda/std/functional>
#include <cuda/std/limits>

constexpr int threads = 128, items = 3;

struct Longest {
  __device__ float operator()(float a, float b) const { return fabsf(b) > fabsf(a) ? b : a; }
};

template <cub::BlockReduceAlgorithm algorithm, class T>
__device__ void reduce_all(const T* x, T* out, int valid) {
  using BlockReduce = cub::BlockReduce<T, threads, algorithm>;
  __shared__ typename BlockReduce::TempStorage storage;
  T values[items];
  for (int i = 0; i < items; ++i) values[i] = x[threadIdx.x * items + i];
  T sum = BlockReduce(storage).Sum(values[0]);
  __syncthreads();
  T some = BlockReduce(storage).Sum(values[0], valid);
  __syncthreads();
  T largest = BlockReduce(storage).Reduce(values[0], cuda::maximum<>{});
  __syncthreads();
  T least = BlockReduce(storage).Reduce(values[0], cuda::minimum<T>(), valid);
  __syncthreads();
  T all = BlockReduce(storage).Sum(values);
  __syncthreads();
  T product = BlockReduce(storage).Reduce(values, [](T a, T b) { return a > b ? a : b; });
  if (threadIdx.x == 0) {
    out[0] = sum, out[1] = some, out[2] = largest, out[3] = least, out[4] = all, out[5] = product;
  }
  if (threadIdx.x == 1) out[6] = sum;
}

__global__ void reduce_floats(const float* x, float* out, int valid) {
  reduce_all<cub::BLOCK_REDUCE_WARP_REDUCTIONS>(x, out, valid);
}
__global__ void reduce_ints(const int* x, int* out, int valid) {
  reduce_all<cub::BLOCK_REDUCE_RAKING>(x, out, valid);
}
__global__ void reduce_2d(const float* x, float* out) {
  typedef cub::BlockReduce<float, 16, cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, 4, 2> BlockReduce;
  __shared__ typename BlockReduce::TempStorage storage;
  int t = (threadIdx.z * 4 + threadIdx.y) * 16 + threadIdx.x;
  float longest = BlockReduce(storage).Reduce(x[t], Longest());
  if (t == 0) *out = longest;
}
__global__ void reduce_pairs(const float* x, int* where, float* value) {
  using Pair = cub::KeyValuePair<int, float>;
  using BlockReduce = cub::BlockReduce<Pair, threads>;
  __shared__ BlockReduce::TempStorage storage;
  Pair best = BlockReduce(storage).Reduce(Pair(threadIdx.x, x[threadIdx.x]), cub::ArgMax());
  if (threadIdx.x == 0) *where = best.key, *value = best.value;
}

extern "C" void run_reduce(const float* x, const int* k, float* out, int* whole, int valid) {
  reduce_floats<<<1, threads>>>(x, out, valid);
  reduce_ints<<<1, threads>>>(k, whole, valid);
  reduce_2d<<<1, dim3(16, 4, 2)>>>(x, out + 7);
  reduce_pairs<<<1, threads>>>(x, whole + 7, out + 8);
}

// The running total of blocks of 128 that one block goes through.
struct RunningTotal {
  int total;
  __device__ explicit RunningTotal(int total) : total(total) {}
  __device__ int operator()(int block_aggregate) {
    int before = total;
    total += block_aggregate;
    return before;
  }
};

__global__ void scan_all(const int* x, int* out, int n) {
  using BlockScan = cub::BlockScan<int, threads>;
  using Load = cub::BlockLoad<int, threads, items, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Store = cub::BlockStore<int, threads, items, cub::BLOCK_STORE_TRANSPOSE>;
  __shared__ union {
    typename BlockScan::TempStorage scan;
    typename Load::TempStorage load;
    typename Store::TempStorage store;
  } storage;
  RunningTotal exclusive_total(100), inclusive_total(0);
  for (int first = 0; first < n; first += threads * items) {
    int values[items], exclusive[items], inclusive[items], aggregate;
    Load(storage.load).Load(x + first, values, n - first, 0);
    __syncthreads();
    BlockScan(storage.scan).ExclusiveSum(values, exclusive, exclusive_total);
    __syncthreads();
    BlockScan(storage.scan).InclusiveSum(values, inclusive, inclusive_total);
    __syncthreads();
    Store(storage.store).Store(out + first, exclusive, n - first);
    __syncthreads();
    Store(storage.store).Store(out + n + first, inclusive, n - first);
    __syncthreads();
    BlockScan(storage.scan).InclusiveScan(values, inclusive, cuda::maximum<>(), aggregate);
    __syncthreads();
    Store(storage.store).Store(out + 2 * n + first, inclusive, n - first);
    if (threadIdx.x == 3) out[3 * n + first / (threads * items)] = aggregate;
    __syncthreads();
  }
}

__global__ void scan_single(const int* x, int* out) {
  using BlockScan = cub::BlockScan<int, threads, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ typename BlockScan::TempStorage storage;
  const int t = threadIdx.x;
  int value = x[t], sum = 0, aggregate = 0;
  BlockScan(storage).ExclusiveSum(value, sum);
  out[t] = sum;
  __syncthreads();
  BlockScan(storage).InclusiveSum(value, sum, aggregate);
  out[threads + t] = sum;
  out[2 * threads + t] = aggregate;
  __syncthreads();
  BlockScan(storage).ExclusiveScan(value, sum, -5, cuda::maximum<>(), aggregate);
  out[3 * threads + t] = sum;
  __syncthreads();
  BlockScan(storage).ExclusiveScan(value, sum, cuda::std::plus<>());
  out[4 * threads + t] = sum;
  __syncthreads();
  BlockScan(storage).InclusiveScan(value, value, cuda::minimum<int>());
  out[5 * threads + t] = value;
}

extern "C" void run_scan(const int* x, int* out, int n) { scan_all<<<1, threads>>>(x, out, n); }
extern "C" void run_scan_single(const int* x, int* out) { scan_single<<<1, threads>>>(x, out); }

template <int size>
__global__ void by_warp(const int* x, int* out, int valid) {
  using WarpReduce = cub::WarpReduce<int, size>;
  using WarpScan = cub::WarpScan<int, size>;
  constexpr int warps = 64 / size;
  __shared__ typename WarpReduce::TempStorage reduce[warps];
  __shared__ typename WarpScan::TempStorage scan[warps];
  const int t = threadIdx.x, warp = t / size;
  int value = x[t], sum, aggregate, before;
  sum = WarpReduce(reduce[warp]).Sum(value);
  if (t % size == 0) out[warp] = sum;
  sum = WarpReduce(reduce[warp]).Reduce(value, cuda::maximum<>(), valid);
  if (t % size == 0) out[64 + warp] = sum;
  WarpScan(scan[warp]).InclusiveSum(value, sum);
  out[128 + t] = sum;
  WarpScan(scan[warp]).ExclusiveSum(value, sum, aggregate);
  out[192 + t] = sum;
  out[256 + t] = aggregate;
  WarpScan(scan[warp]).ExclusiveScan(value, sum, 7, cuda::maximum<>());
  out[320 + t] = sum;
  WarpScan(scan[warp]).Scan(value, sum, before, 0, cuda::std::plus<>());
  out[384 + t] = sum - before;
  out[448 + t] = WarpScan(scan[warp]).Broadcast(value, 2);
  sum = WarpReduce(reduce[warp]).HeadSegmentedSum(value, t % 4 == 0);
  if (t % 4 == 0) out[512 + t] = sum;
  sum = WarpReduce(reduce[warp]).TailSegmentedSum(value, t % 2 == 1);
  if (t % 2 == 0) out[576 + t] = sum;
}
extern "C" void run_warp(const int* x, int* out, int size, int valid) {
  if (size == 32) by_warp<32><<<1, 64>>>(x, out, valid);
  if (size == 8) by_warp<8><<<1, 64>>>(x, out, valid);
}

template <class K>
__global__ void sort_keys(const K* keys, K* up, K* down, int* places, int* bits) {
  using Sort = cub::BlockRadixSort<K, threads, items, int>;
  using Keys = cub::BlockRadixSort<K, threads, items>;
  using Exchange = cub::BlockExchange<int, threads, items>;
  __shared__ typename Sort::TempStorage storage;
  __shared__ typename Keys::TempStorage only;
  __shared__ typename Exchange::TempStorage exchange;
  K mine[items];
  int values[items];
  cub::LoadDirectBlocked(threadIdx.x, keys, mine);
  for (int i = 0; i < items; ++i) values[i] = threadIdx.x * items + i;
  Sort(storage).Sort(mine, values);
  cub::StoreDirectBlocked(threadIdx.x, up, mine);
  cub::StoreDirectBlocked(threadIdx.x, places, values);
  __syncthreads();
  Keys(only).SortDescendingBlockedToStriped(mine);
  cub::StoreDirectStriped<threads>(threadIdx.x, down, mine);
  __syncthreads();
  for (int i = 0; i < items; ++i) values[i] = threadIdx.x * items + i;
  Exchange(exchange).BlockedToStriped(values);
  for (int i = 0; i < items; ++i) bits[i * threads + threadIdx.x] = values[i];
}
extern "C" void sort_floats(const float* keys, float* up, float* down, int* places, int* bits) {
  sort_keys<<<1, threads>>>(keys, up, down, places, bits);
}
extern "C" void sort_ints(const int* keys, int* up, int* down, int* places, int* bits) {
  sort_keys<<<1, threads>>>(keys, up, down, places, bits);
}

// Without the barrier between two uses of one storage.
__global__ void reuse(const int* x, int* out) {
  using BlockReduce = cub::BlockReduce<int, threads>;
  __shared__ BlockReduce::TempStorage storage;
  int sum = BlockReduce(storage).Sum(x[threadIdx.x]);
  int again = BlockReduce(storage).Sum(1);
  if (threadIdx.x == 0) out[0] = sum, out[1] = again;
}
// Some threads do not come.
__global__ void divergent(const int* x, int* out) {
  using BlockReduce = cub::BlockReduce<int, threads>;
  __shared__ BlockReduce::TempStorage storage;
  if (threadIdx.x < 70) {
    out[0] = BlockReduce(storage).Sum(x[threadIdx.x]);  // SOME
  } else {
    __syncthreads();  // OTHERS
  }
}
__global__ void divergent_warp(const int* x, int* out) {
  using WarpReduce = cub::WarpReduce<int>;
  __shared__ WarpReduce::TempStorage storage[4];
  if (threadIdx.x % 32 < 20) {
    out[threadIdx.x] = WarpReduce(storage[threadIdx.x / 32]).Sum(x[threadIdx.x]);  // LANES
  } else {
    __syncwarp();
  }
}
extern "C" void wrong_block(const int* x, int* out, int which) {
  if (which == 0) reuse<<<1, threads>>>(x, out);
  if (which == 1) divergent<<<1, threads>>>(x, out);
  if (which == 2) divergent_warp<<<1, threads>>>(x, out);
}
