// Warps and blocks acting together.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;
#define FULL 0xffffffffu

// out[k * 32 + lane] for the k-th operation
__global__ void shuffles(int *out, long long *wide) {
  const int lane = threadIdx.x;
  int v = lane * 10;
  int k = 0;
  out[k++ * 32 + lane] = __shfl_sync(FULL, v, 5);
  out[k++ * 32 + lane] = __shfl_sync(FULL, v, lane + 1, 8);
  out[k++ * 32 + lane] = __shfl_up_sync(FULL, v, 3);
  out[k++ * 32 + lane] = __shfl_up_sync(FULL, v, 3, 16);
  out[k++ * 32 + lane] = __shfl_down_sync(FULL, v, 4);
  out[k++ * 32 + lane] = __shfl_down_sync(FULL, v, 4, 8);
  out[k++ * 32 + lane] = __shfl_xor_sync(FULL, v, 1);
  out[k++ * 32 + lane] = __shfl_xor_sync(FULL, v, 8, 8);
  out[k++ * 32 + lane] = (int)__shfl_sync(FULL, (double)v, 31);
  wide[lane] = __shfl_xor_sync(FULL, (1ll << 40) + lane, 2);
}

__global__ void votes(unsigned *out) {
  const int lane = threadIdx.x;
  int k = 0;
  out[k++ * 32 + lane] = __ballot_sync(FULL, lane % 3 == 0);
  out[k++ * 32 + lane] = __any_sync(FULL, lane == 4);
  out[k++ * 32 + lane] = __all_sync(FULL, lane < 31);
  out[k++ * 32 + lane] = __all_sync(FULL, lane < 32);
  out[k++ * 32 + lane] = __match_any_sync(FULL, lane % 4);
  int all = 7;
  out[k++ * 32 + lane] = __match_all_sync(FULL, 3, &all) + all;
  out[k++ * 32 + lane] = __match_all_sync(FULL, lane, &all) + all;
  out[k++ * 32 + lane] = __reduce_add_sync(FULL, (unsigned)lane);
  out[k++ * 32 + lane] = __reduce_min_sync(FULL, lane - 7);
  out[k++ * 32 + lane] = __reduce_max_sync(FULL, (unsigned)(lane - 7));
  out[k++ * 32 + lane] = __reduce_xor_sync(FULL, 1u << lane);
  // Half of the warp on its own, each lane in a different branch of the code.
  unsigned part = 0;
  if (lane < 16) part = __ballot_sync(0x0000ffffu, lane & 1);
  else part = __ballot_sync(0xffff0000u, lane & 1);
  out[k++ * 32 + lane] = part;
  unsigned active = 0;
  if (lane % 2) active = __activemask();
  out[k++ * 32 + lane] = active;
  __syncwarp();
  out[k++ * 32 + lane] = __activemask();
}

__global__ void counts(int *out) {
  const int t = threadIdx.x;
  out[t] = __syncthreads_count(t % 5 == 0);
  out[blockDim.x + t] = __syncthreads_and(t >= 0);
  out[2 * blockDim.x + t] = __syncthreads_and(t > 0);
  out[3 * blockDim.x + t] = __syncthreads_or(t == 77);
  out[4 * blockDim.x + t] = __syncthreads_or(t < 0);
}

// Threads that leave early do not hold up the others (as the exit instruction specifies).
__global__ void early_exit(int *out, int n) {
  if (threadIdx.x >= n) return;
  __shared__ int s[128];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[n - 1 - threadIdx.x];
  if (threadIdx.x < 32) {
    int v = __shfl_down_sync(FULL, out[threadIdx.x], 1);
    if (threadIdx.x == 0) out[n] = v;
  }
}

__global__ void sum(const float *x, float *total, int n) {
  __shared__ float partial[32];
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i];
  for (int offset = warpSize / 2; offset > 0; offset /= 2) v += __shfl_down_sync(FULL, v, offset);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.0f;
    for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_xor_sync(FULL, v, offset);
    if (threadIdx.x == 0) atomicAdd(total, v);
  }
}

__global__ void groups(int *out) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  auto tile = cg::tiled_partition<8>(warp);
  const int t = block.thread_rank(), n = block.size();
  int k = 0;
  out[k++ * n + t] = warp.meta_group_rank() * 100 + warp.meta_group_size();
  out[k++ * n + t] = tile.thread_rank() * 100 + tile.size();
  out[k++ * n + t] = tile.shfl(t, 2);
  out[k++ * n + t] = tile.shfl_down(t, 1);
  out[k++ * n + t] = tile.shfl_up(t, 1);
  out[k++ * n + t] = tile.shfl_xor(t, 4);
  out[k++ * n + t] = cg::reduce(tile, t, cg::plus<int>());
  out[k++ * n + t] = cg::reduce(warp, t, cg::greater<int>());
  out[k++ * n + t] = tile.ballot(t % 2);
  out[k++ * n + t] = tile.any(t == 9) * 10 + tile.all(t < 40);
  out[k++ * n + t] = cg::inclusive_scan(tile, 1);
  out[k++ * n + t] = cg::exclusive_scan(tile, t, cg::plus<int>());
  int rank = -1;
  if (t % 3 == 0) {
    cg::coalesced_group some = cg::coalesced_threads();
    rank = some.thread_rank() * 100 + some.size();
  }
  out[k++ * n + t] = rank;
  cg::sync(block);
  block.sync();
}

extern "C" void run_shuffles(int *out, long long *wide) { shuffles<<<1, 32>>>(out, wide); }
extern "C" void run_votes(unsigned *out) { votes<<<1, 32>>>(out); }
extern "C" void run_counts(int *out) { counts<<<1, 100>>>(out); }
extern "C" void run_early_exit(int *out, int n) { early_exit<<<1, 128>>>(out, n); }
extern "C" void run_sum(const float *x, float *total, int n) { sum<<<37, 256>>>(x, total, n); }
extern "C" void run_groups(int *out) { groups<<<1, 64>>>(out); }
