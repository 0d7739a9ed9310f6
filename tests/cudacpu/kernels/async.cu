// Asynchronous copies: cp.async's functions, groups', barriers' and pipelines'.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

constexpr int threads = 64, tile = 4 * threads;

// out[i] = the elements i, i + 256, ... of x together; each kernel has its own way to get at them.
__global__ void by_primitives(const float* x, float* out, int tiles, int zeros) {
  __shared__ alignas(16) float buffer[2][tile];
  const int t = threadIdx.x;
  auto fetch = [&](int number) {
    if (number < tiles) {
      __pipeline_memcpy_async(&buffer[number % 2][4 * t], x + number * tile + 4 * t, 16, zeros);
    }
    __pipeline_commit();
  };
  float sum[4] = {};
  fetch(0);
  for (int number = 0; number < tiles; ++number) {
    fetch(number + 1);
    __pipeline_wait_prior(1);
    __syncthreads();
    for (int i = 0; i < 4; ++i) sum[i] += buffer[number % 2][i * threads + t];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) out[i * threads + t] = sum[i];
}

__global__ void by_groups(const float* x, float* out, int tiles) {
  extern __shared__ float dynamic[];
  auto block = cg::this_thread_block();
  float sum[4] = {};
  cg::memcpy_async(block, dynamic, x, cuda::aligned_size_t<16>(tile * sizeof(float)));
  for (int number = 0; number < tiles; ++number) {
    float* next = dynamic + (number + 1) % 2 * tile;
    if (number + 1 < tiles) {
      const int elements = tile;  // by reference: not of a constant of the host
      cg::memcpy_async(block, next, elements, x + (number + 1) * tile, elements);
      cg::wait_prior<1>(block);
    } else {
      cg::wait(block);
    }
    for (int i = 0; i < 4; ++i) sum[i] += dynamic[number % 2 * tile + i * threads + threadIdx.x];
    block.sync();
  }
  for (int i = 0; i < 4; ++i) out[i * threads + threadIdx.x] = sum[i];
}

__global__ void by_barrier(const float* x, float* out, int tiles) {
  using barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ float buffer[tile];
  __shared__ barrier ready;
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&ready, block.size());
  block.sync();
  float sum[4] = {};
  for (int number = 0; number < tiles; ++number) {
    if (number % 2) {
      cuda::memcpy_async(block, buffer, x + number * tile, sizeof(float) * tile, ready);
    } else {
      for (int i = 0; i < 4; ++i) {
        int at = i * threads + threadIdx.x;
        cuda::memcpy_async(buffer + at, x + number * tile + at, sizeof(float), ready);
      }
    }
    barrier::arrival_token token = ready.arrive();
    ready.wait(cuda::std::move(token));
    for (int i = 0; i < 4; ++i) sum[i] += buffer[i * threads + threadIdx.x];
    ready.arrive_and_wait();
  }
  for (int i = 0; i < 4; ++i) out[i * threads + threadIdx.x] = sum[i];
}

__global__ void by_own_pipeline(const float* x, float* out, int tiles) {
  __shared__ float buffer[2][tile];
  cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
  auto fetch = [&](int number) {
    pipe.producer_acquire();
    for (int i = 0; i < 4 && number < tiles; ++i) {
      int at = i * threads + threadIdx.x;
      cuda::memcpy_async(&buffer[number % 2][at], &x[number * tile + at],
                         cuda::aligned_size_t<4>(sizeof(float)), pipe);
    }
    pipe.producer_commit();
  };
  float sum[4] = {};
  fetch(0);
  for (int number = 0; number < tiles; ++number) {
    fetch(number + 1);
    if (number % 2) {
      cuda::pipeline_consumer_wait_prior<1>(pipe);
    } else {
      pipe.consumer_wait();
    }
    for (int i = 0; i < 4; ++i) sum[i] += buffer[number % 2][i * threads + threadIdx.x];
    pipe.consumer_release();
  }
  for (int i = 0; i < 4; ++i) out[i * threads + threadIdx.x] = sum[i];
}

template <int stages>
__global__ void by_shared_pipeline(const float* x, float* out, int tiles) {
  __shared__ float buffer[stages][tile];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  float sum[4] = {};
  int fetched = 0;
  for (int number = 0; number < tiles; ++number) {
    for (; fetched < tiles && fetched < number + stages; ++fetched) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, buffer[fetched % stages], x + fetched * tile, sizeof(float) * tile,
                         pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    for (int i = 0; i < 4; ++i) {
      sum[i] += buffer[number % stages][tile - 1 - i * threads - threadIdx.x];
    }
    pipe.consumer_release();
  }
  for (int i = 0; i < 4; ++i) out[tile - 1 - i * threads - threadIdx.x] = sum[i];
}

// One warp fetches, the other adds up.
__global__ void by_roles(const float* x, float* out, int tiles) {
  __shared__ float buffer[2][tile];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  const bool fetches = threadIdx.x < 32;
  auto pipe = cuda::make_pipeline(
      block, &state, fetches ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  float sum[8] = {};
  for (int number = 0; number < tiles; ++number) {
    if (fetches) {
      pipe.producer_acquire();
      for (int at = threadIdx.x; at < tile; at += 32) {
        cuda::memcpy_async(&buffer[number % 2][at], &x[number * tile + at], sizeof(float), pipe);
      }
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      for (int i = 0; i < 8; ++i) sum[i] += buffer[number % 2][i * 32 + threadIdx.x - 32];
      pipe.consumer_release();
    }
  }
  for (int i = 0; i < 8 && !fetches; ++i) out[i * 32 + threadIdx.x - 32] = sum[i];
}

extern "C" void add_tiles(const float* x, float* out, int tiles, int way) {
  if (way == 0) by_primitives<<<1, threads>>>(x, out, tiles, 0);
  if (way == 1) by_groups<<<1, threads, 2 * tile * sizeof(float)>>>(x, out, tiles);
  if (way == 2) by_barrier<<<1, threads>>>(x, out, tiles);
  if (way == 3) by_own_pipeline<<<1, threads>>>(x, out, tiles);
  if (way == 4) by_shared_pipeline<2><<<1, threads>>>(x, out, tiles);
  if (way == 5) by_shared_pipeline<4><<<1, threads>>>(x, out, tiles);
  if (way == 6) by_roles<<<1, threads>>>(x, out, tiles);
  if (way == 7) by_primitives<<<1, threads>>>(x, out, tiles, 4);
}

// ---- mistakes ------------------------------------------------------------------------------

__global__ void without_wait(const float* x, float* out) {
  __shared__ float buffer[threads];
  __pipeline_memcpy_async(&buffer[threadIdx.x], x + threadIdx.x, 4);
  __pipeline_commit();
  __syncthreads();
  out[threadIdx.x] = buffer[threadIdx.x];
}
__global__ void without_commit(const float* x, float* out) {
  __shared__ float buffer[threads];
  __pipeline_memcpy_async(&buffer[threadIdx.x], x + threadIdx.x, 4);
  __pipeline_wait_prior(0);
  out[threadIdx.x] = buffer[threadIdx.x];
}
__global__ void without_barrier(const float* x, float* out) {
  __shared__ float buffer[threads];
  __pipeline_memcpy_async(&buffer[threadIdx.x], x + threadIdx.x, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = buffer[threadIdx.x ^ 33];
}
__global__ void odd_address(const float* x, float* out) {
  __shared__ alignas(16) float buffer[threads + 8];
  __pipeline_memcpy_async(&buffer[threadIdx.x], x + threadIdx.x, 16);  // ODD
  __pipeline_commit();
}
__global__ void too_few_arrive(float* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> ready;
  if (threadIdx.x == 0) init(&ready, 65);
  __syncthreads();
  ready.arrive_and_wait();  // FEW
}
extern "C" void mistakes(const float* x, float* out, int which) {
  if (which == 0) without_wait<<<1, threads>>>(x, out);
  if (which == 1) without_commit<<<1, threads>>>(x, out);
  if (which == 2) without_barrier<<<1, threads>>>(x, out);
  if (which == 3) odd_address<<<1, threads>>>(x, out);
  if (which == 4) too_few_arrive<<<1, threads>>>(out);
}
__global__ void read_beyond(const float* x, float* out, int n) {
  __shared__ float buffer[threads];
  __pipeline_memcpy_async(&buffer[threadIdx.x], x + threadIdx.x, 4);  // BEYOND
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x % n] = buffer[threadIdx.x];
}
__global__ void write_beyond(const float* x, float* out, int n) {
  __shared__ float buffer[threads];
  __pipeline_memcpy_async(&buffer[threadIdx.x + n], x, 4);  // OUTSIDE
}
extern "C" void read_async(const float* x, float* out, int n) { read_beyond<<<1, threads>>>(x, out, n); }
extern "C" void write_async(const float* x, float* out, int n) { write_beyond<<<1, threads>>>(x, out, n); }
