// Launches: CUDA's limits with CUDA's codes, and a pool of workers that share out the blocks.
#pragma once
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <type_traits>

#include "block.h"

typedef struct CUstream_st* cudaStream_t;

namespace cudacpu {

static struct Settings {
  Order order = forward;
  uint64_t seed = 0;
  unsigned workers = 0;
  uint64_t launches = 0;
} settings;

// cudaFuncSetAttribute's dynamic shared memory, by kernel.
static struct DynamicLimits {
  struct Entry { const void* kernel; size_t bytes; } entries[256];
  unsigned count = 0;
  size_t largest = 0;
} dynamic_limits;

inline unsigned available_workers() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  int cores = CPU_COUNT(&set);
  return cores < 1 ? 1 : cores > 64 ? 64 : static_cast<unsigned>(cores);
}

inline void work(Launch& launch) {
  if (!worker) worker = new Worker();  // zeroed: no thread waits yet
  Worker& w = *worker;
  w.begin_launch(launch);
  while (!__atomic_load_n(&launch.failed, __ATOMIC_RELAXED)) {
    uint64_t first = __atomic_fetch_add(&launch.next, launch.chunk, __ATOMIC_RELAXED);
    if (first >= launch.blocks) break;
    uint64_t end = first + launch.chunk < launch.blocks ? first + launch.chunk : launch.blocks;
    for (uint64_t i = first; i < end; ++i) {
      uint64_t block = i;
      if (launch.order == reversed) block = launch.blocks - 1 - i;
      if (launch.order == shuffled) {
        block = (launch.start + static_cast<unsigned __int128>(i) * launch.stride) % launch.blocks;
      }
      w.run_block(block);
      if (__atomic_load_n(&launch.failed, __ATOMIC_RELAXED)) break;
    }
  }
  w.running = nobody;
}

// Helpers that live as long as the process; the launching thread works too.
static struct Pool {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t start = PTHREAD_COND_INITIALIZER;
  pthread_cond_t done = PTHREAD_COND_INITIALIZER;
  Launch* launch = nullptr;
  uint64_t generation = 0;
  unsigned helpers = 0, wanted = 0, busy = 0;
} pool;

inline void* helper_main(void* argument) {
  uintptr_t number = reinterpret_cast<uintptr_t>(argument);
  uint64_t seen = 0;
  pthread_mutex_lock(&pool.lock);
  for (;;) {
    while (pool.generation == seen) pthread_cond_wait(&pool.start, &pool.lock);
    seen = pool.generation;
    if (number >= pool.wanted) continue;
    Launch* launch = pool.launch;
    pthread_mutex_unlock(&pool.lock);
    work(*launch);
    pthread_mutex_lock(&pool.lock);
    if (--pool.busy == 0) pthread_cond_signal(&pool.done);
  }
  return nullptr;
}

inline void run_on_pool(Launch& launch, unsigned helpers) {
  if (helpers == 0) return work(launch);
  pthread_mutex_lock(&pool.lock);
  while (pool.helpers < helpers) {
    pthread_t thread;
    void* number = reinterpret_cast<void*>(static_cast<uintptr_t>(pool.helpers));
    // A new helper sees generation 0 as passed; let it wait for the next one.
    if (pthread_create(&thread, nullptr, helper_main, number) != 0) break;
    pthread_detach(thread);
    ++pool.helpers;
  }
  if (helpers > pool.helpers) helpers = pool.helpers;
  pool.launch = &launch;
  pool.wanted = pool.busy = helpers;
  ++pool.generation;
  pthread_cond_broadcast(&pool.start);
  pthread_mutex_unlock(&pool.lock);
  work(launch);
  pthread_mutex_lock(&pool.lock);
  while (pool.busy) pthread_cond_wait(&pool.done, &pool.lock);
  pool.wanted = 0;
  pool.launch = nullptr;
  pthread_mutex_unlock(&pool.lock);
}

inline void shuffle_blocks(Launch& launch) {
  uint64_t n = launch.blocks;
  launch.start = launch.seed % n;
  launch.stride = 1;
  if (n < 3) return;
  launch.stride = launch.seed / 7 % n | 1;
  auto divides = [n](uint64_t a) {
    uint64_t b = n;
    while (a) {
      uint64_t r = b % a;
      b = a;
      a = r;
    }
    return b != 1;
  };
  while (divides(launch.stride)) launch.stride = (launch.stride + 1) % n;
}

inline void refuse(const char* kernel, cudaError_t error, const char* why) {
  char message[512];
  snprintf(message, sizeof message, "launch of %s: %s: %s", kernel, cudaGetErrorString(error),
           why);
  record_error(error, error, false, message);
}

inline size_t dynamic_limit(const void* kernel) {
  size_t limit = 0;
  // A templated launch does not tell which instantiation it is: the largest limit counts.
  if (!kernel) limit = dynamic_limits.largest;
  for (unsigned i = 0; kernel && i < dynamic_limits.count; ++i) {
    if (dynamic_limits.entries[i].kernel == kernel) limit = dynamic_limits.entries[i].bytes;
  }
  return limit > shared_default_limit ? limit : shared_default_limit;
}

inline bool acceptable(const Launch& launch) {
  char why[256];
  const dim3 &g = launch.grid, &b = launch.block;
  if (!b.x || !b.y || !b.z || b.x > 1024 || b.y > 1024 || b.z > 64 ||
      static_cast<uint64_t>(b.x) * b.y * b.z > max_threads) {
    snprintf(why, sizeof why, "block (%u,%u,%u); at most (1024,1024,64) and 1024 threads", b.x,
             b.y, b.z);
  } else if (!g.x || !g.y || !g.z || g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535) {
    snprintf(why, sizeof why, "grid (%u,%u,%u); at most (2147483647,65535,65535)", g.x, g.y, g.z);
  } else if (launch.shared_bytes > launch.shared_limit) {
    snprintf(why, sizeof why, "%zu bytes of dynamic shared memory; the limit is %zu%s",
             launch.shared_bytes, launch.shared_limit,
             launch.shared_limit < shared_limit ? " unless cudaFuncSetAttribute raises it" : "");
    refuse(launch.kernel, cudaErrorInvalidValue, why);
    return false;
  } else {
    return true;
  }
  refuse(launch.kernel, cudaErrorInvalidConfiguration, why);
  return false;
}

struct Configuration {
  const char* kernel;
  const void* function;  // null where it cannot be told
  dim3 grid, block;
  size_t shared_bytes;

  void run(void (*invoke)(const void*), const void* closure) const {
    if (errors.sticky != cudaSuccess) return;
    if (worker && worker->running != nobody) {
      worker->fail(fault_unsupported, "a launch inside a kernel (dynamic parallelism)");
    }
    Launch launch{};
    launch.kernel = kernel;
    launch.invoke = invoke;
    launch.closure = closure;
    launch.grid = grid;
    launch.block = block;
    launch.shared_bytes = shared_bytes;
    launch.shared_limit = dynamic_limit(function);
    if (!acceptable(launch)) return;
    launch.blocks = static_cast<uint64_t>(grid.x) * grid.y * grid.z;
    launch.order = settings.order;
    launch.seed = (settings.seed + 0x632be59bd9b4e019ull * ++settings.launches) *
                  0x9e3779b97f4a7c15ull >> 1;
    if (launch.order == shuffled) shuffle_blocks(launch);
    unsigned workers = settings.workers ? settings.workers : available_workers();
    if (workers > launch.blocks) workers = static_cast<unsigned>(launch.blocks);
    launch.chunk = launch.blocks / (workers * 64ull);
    if (launch.chunk < 1) launch.chunk = 1;
    if (launch.chunk > 64) launch.chunk = 64;
    run_on_pool(launch, workers - 1);
  }
};

// A kernel named plainly: arguments convert to the parameters' types, once, at the launch.
template <class... P>
struct Launcher {
  Configuration configuration;
  void (*kernel)(P...);

  void operator()(P... arguments) const {
    auto thread = [&] { kernel(arguments...); };  // each thread has its own copies
    configuration.run([](const void* t) { (*static_cast<const decltype(thread)*>(t))(); },
                      &thread);
  }
};

// Templates, overloads and default arguments: a generic lambda stands for the kernel.
template <class F>
struct AnyLauncher {
  Configuration configuration;
  F kernel;

  template <class... A>
  void operator()(A... arguments) const {
    auto thread = [&] { kernel(arguments...); };
    configuration.run([](const void* t) { (*static_cast<const decltype(thread)*>(t))(); },
                      &thread);
  }
};

template <class F>
inline AnyLauncher<F> launcher(const char* name, F kernel, dim3 grid, dim3 block,
                               size_t shared_bytes = 0, cudaStream_t = nullptr) {
  return {{name, nullptr, grid, block, shared_bytes}, kernel};
}

// Takes a kernel by its name, unless others have the same (libm's `tanh`, a host function).
struct OnlyOne {
  template <class P, class... Q>
  auto operator()(void (*kernel)(P, Q...)) const -> decltype(kernel);
};

template <class... P>
inline Launcher<P...> plain_launcher(const Configuration& configuration, void (*kernel)(P...)) {
  Configuration full = configuration;
  full.function = reinterpret_cast<const void*>(kernel);
  return {full, kernel};
}

// `name_it` gives the kernel's address where there is but one of that name; `call` calls it.
template <class N, class F, class = std::enable_if_t<!std::is_convertible_v<F, dim3>>>
inline auto launcher(const char* name, N name_it, F call, dim3 grid, dim3 block,
                     size_t shared_bytes = 0, cudaStream_t = nullptr) {
  Configuration configuration{name, nullptr, grid, block, shared_bytes};
  if constexpr (std::is_invocable_v<N, OnlyOne>) {
    return plain_launcher(configuration, name_it(OnlyOne()));
  } else {
    return AnyLauncher<F>{configuration, call};
  }
}

}  // namespace cudacpu

CUDACPU_EXPORT void cudacpu_configure(int order, unsigned long long seed, int workers) {
  using namespace cudacpu;
  settings.order = order == 1 ? reversed : order == 2 ? shuffled : forward;
  settings.seed = seed;
  settings.workers = workers < 0 ? 0 : workers > 64 ? 64 : static_cast<unsigned>(workers);
  settings.launches = 0;
}

// Kernels launched since the last cudacpu_configure.
CUDACPU_EXPORT unsigned long long cudacpu_launches() { return cudacpu::settings.launches; }

CUDACPU_EXPORT void cudacpu_guard(const void* begin, size_t bytes) {
  cudacpu::poison(begin, bytes);
}

CUDACPU_EXPORT void cudacpu_unguard(const void* begin, size_t bytes) {
  cudacpu::unpoison(begin, bytes);
}

// The rows of a tensor with gaps between them: `count` times `bytes`, `step` bytes apart.
CUDACPU_EXPORT void cudacpu_unguard_rows(const void* begin, size_t count, size_t step,
                                         size_t bytes) {
  const char* row = static_cast<const char*>(begin);
  for (size_t i = 0; i < count; ++i) cudacpu::unpoison(row + i * step, bytes);
}
