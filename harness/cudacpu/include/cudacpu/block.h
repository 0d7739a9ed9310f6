// One worker (an OS thread) runs one block at a time. Each CUDA thread of the block is a fiber;
// it gives way only where it waits for others (barriers, warp collectives), so a kernel without
// any runs its threads one after the other on a single stack.
#pragma once
#include <stdarg.h>

#include "error.h"
#include "fiber.h"
#include "shared.h"
#include "vector_types.h"

static thread_local uint3 threadIdx;
static thread_local uint3 blockIdx;
static thread_local dim3 blockDim;
static thread_local dim3 gridDim;
static constexpr int warpSize = 32;

namespace cudacpu {

constexpr unsigned max_threads = 1024;
constexpr unsigned max_warps = max_threads / 32;
constexpr unsigned nobody = ~0u;

enum Order { forward = 0, reversed = 1, shuffled = 2 };

struct Launch {
  const char* kernel;
  void (*invoke)(const void* closure);
  const void* closure;
  dim3 grid, block;
  size_t shared_bytes;
  size_t shared_limit;
  uint64_t blocks;
  uint64_t chunk;        // blocks taken at once by a worker
  uint64_t next;         // first block not taken yet (atomic)
  int failed;            // a block died: start no further ones (atomic)
  Order order;
  uint64_t seed;
  uint64_t stride, start;  // shuffled: the i-th block run is (start + i * stride) % blocks
};

// What the lanes of a warp can do together; one collective completes when every lane named in
// its mask that has not exited has arrived with the same operation and the same mask.
enum class Collective : unsigned char {
  sync, shuffle, vote, match, together,
  add, min_signed, max_signed, min_unsigned, max_unsigned, bit_and, bit_or, bit_xor,
};

inline const char* name_of(Collective operation) {
  switch (operation) {
    case Collective::sync: return "__syncwarp";
    case Collective::shuffle: return "__shfl_sync";
    case Collective::vote: return "a warp vote";
    case Collective::match: return "__match_sync";
    case Collective::together: return "an operation of a warp";
    default: return "__reduce_sync";
  }
}

// What a lane brings to an operation that the lanes of its mask do together. `run` is called once:
// `lanes` has the address of each arrived lane's record.
struct Together {
  const char* name;
  int line;
  void (*run)(const uint64_t* lanes, uint32_t arrived);
};

enum class Barrier : unsigned char { plain, count, all, any };

enum class Waiting : unsigned char { no, at_barrier, in_collective, converging, at_object };

struct Group {
  uint32_t mask, arrived;
  Collective operation;
};

struct Warp {
  uint32_t alive;        // lanes that exist and have not exited
  uint32_t ready;        // lanes that may run: not yet started, or no longer waiting
  uint32_t started;
  uint32_t at_barrier;   // lanes waiting in __syncthreads
  uint32_t converging;   // lanes waiting in __activemask for the others to wait or exit
  int barrier_line;
  Barrier barrier;
  unsigned group_count;
  Group groups[32];      // collectives some lanes have arrived at, others not
  uint64_t value[32];
  uint64_t result[32];
  uint32_t source[32];
};

struct Thread {
  void* saved;
  Stack* stack;
  uint3 index;
  int line;
  Waiting waiting;
  const void* object;    // what it waits at: a cuda::barrier, or a stage of a cuda::pipeline
};

struct Worker {
  const Launch* launch = nullptr;
  unsigned thread_count = 0, warp_count = 0;
  unsigned running = nobody;
  unsigned alive = 0;
  unsigned arrived = 0;       // at the block's barrier
  uint32_t runnable = 0;      // warps with a lane that is ready or converging
  unsigned predicate_count = 0, barrier_count = 0, barrier_members = 0;
  uint64_t random = 1;
  uint64_t epoch = 0;         // of the block, to see the first use of a shared variable
  size_t static_shared = 0;   // bytes of the shared variables this block has reached
  bool failed = false;
  void* main_saved = nullptr;
  const void* main_bottom = nullptr;
  size_t main_bytes = 0;
  bool from_main = false;
  Stack* free_stacks = nullptr;
  Stack* stacks[max_threads + 1];
  unsigned stack_count = 0;
  char* shared_arena = nullptr;
  uint64_t* shared_epoch = nullptr;
  char* dynamic_shared = nullptr;
  dim3 shape{0, 0, 0};        // the block shape that threads[].index was filled for
  Warp warps[max_warps];
  Thread threads[max_threads];

  CUDACPU_BARE Warp& warp() { return warps[running >> 5]; }
  CUDACPU_BARE uint32_t bit() const { return 1u << (running & 31); }

  CUDACPU_BARE uint64_t draw() {  // xorshift64*
    random ^= random >> 12;
    random ^= random << 25;
    random ^= random >> 27;
    return random * 0x2545f4914f6cdd1dull;
  }

  // ---- choosing who runs ------------------------------------------------------------------

  CUDACPU_BARE unsigned choose(uint32_t set) {
    switch (launch->order) {
      case forward: return __builtin_ctz(set);
      case reversed: return 31 - __builtin_clz(set);
      default: break;
    }
    unsigned turn = draw() >> 59;
    uint32_t turned = set >> turn | set << ((32 - turn) & 31);
    return (__builtin_ctz(turned) + turn) & 31;
  }

  CUDACPU_BARE unsigned take(unsigned w, unsigned lane) {
    Warp& q = warps[w];
    q.ready &= ~(1u << lane);
    if (!(q.ready | q.converging)) runnable &= ~(1u << w);
    return w * 32 + lane;
  }

  // The next thread to run, warp by warp; in shuffled order any warp's turn may come any time.
  CUDACPU_BARE unsigned pick() {
    if (!runnable) return nobody;
    unsigned w = running >> 5;
    if (launch->order == shuffled || running == nobody || !(runnable >> w & 1)) {
      w = choose(runnable);
    }
    if (!warps[w].ready) converge(warps[w], w);
    return take(w, choose(warps[w].ready));
  }

  // The next ready thread after the running one, round and round: for threads that spin.
  CUDACPU_BARE unsigned pick_after() {
    if (!runnable) return nobody;
    unsigned w = running >> 5;
    uint32_t later = warps[w].ready & ~((bit() << 1) - 1);
    if (later) return take(w, __builtin_ctz(later));
    uint32_t above = w == 31 ? 0 : runnable & ~((2u << w) - 1);
    w = __builtin_ctz(above ? above : runnable);
    if (!warps[w].ready) converge(warps[w], w);
    return take(w, __builtin_ctz(warps[w].ready));
  }

  CUDACPU_BARE void make_ready(unsigned w, uint32_t lanes) {
    warps[w].ready |= lanes;
    runnable |= 1u << w;
  }

  // ---- switching --------------------------------------------------------------------------

  CUDACPU_BARE void begin_switch(void** fake, const void* bottom, size_t bytes) {
#if CUDACPU_ASAN
    __sanitizer_start_switch_fiber(fake, bottom, bytes);
#else
    (void)fake, (void)bottom, (void)bytes;
#endif
  }

  CUDACPU_BARE void end_switch(void* fake) {
#if CUDACPU_ASAN
    const void* bottom;
    size_t bytes;
    __sanitizer_finish_switch_fiber(fake, &bottom, &bytes);
    if (from_main) main_bottom = bottom, main_bytes = bytes, from_main = false;
#else
    (void)fake;
#endif
  }

  CUDACPU_BARE Stack* take_stack() {
    if (Stack* stack = free_stacks) {
      free_stacks = stack->next_free;
      return stack;
    }
    return stacks[stack_count] = Stack::create(stack_count), stacks[stack_count++];
  }

  CUDACPU_BARE void give_stack(Stack* stack) {
    stack->next_free = free_stacks;
    free_stacks = stack;
  }

  CUDACPU_BARE void set_running(unsigned t) {
    running = t;
    threadIdx = threads[t].index;
  }

  // Leaves the current stack for thread t's. With *save null the current one is done with.
  CUDACPU_BARE void jump(void** save, unsigned t) {
    Thread& thread = threads[t];
    set_running(t);
    void* target = thread.saved;
    Warp& q = warps[t >> 5];
    if (!(q.started >> (t & 31) & 1)) {
      q.started |= 1u << (t & 31);
      thread.stack = take_stack();
      target = fresh_stack_pointer(thread.stack->top, &fiber_main);
    }
    void* fake = nullptr;
    void* unused;
    begin_switch(save ? &fake : nullptr, thread.stack->bottom, stack_bytes);
    cudacpu_switch(save ? save : &unused, target);
    end_switch(fake);
  }

  [[noreturn]] CUDACPU_BARE void leave() {  // back to run_block, never to return here
    void* unused;
    begin_switch(nullptr, main_bottom, main_bytes);
    cudacpu_switch(&unused, main_saved);
    __builtin_unreachable();
  }

  CUDACPU_BARE void suspend_for(unsigned next) {
    unsigned self = running;
    if (next == self) return;
    if (next == nobody) deadlock();
    jump(&threads[self].saved, next);
  }

  CUDACPU_BARE void suspend(Waiting reason, int line) {
    Thread& self = threads[running];
    self.waiting = reason;
    self.line = line;
    suspend_for(pick());
    self.waiting = Waiting::no;
  }

  // Waits until another thread of the block calls wake() for `object`.
  CUDACPU_BARE void wait_at(const void* object, int line) {
    threads[running].object = object;
    suspend(Waiting::at_object, line);
  }

  CUDACPU_BARE void wake(const void* object) {
    for (unsigned t = 0; t < thread_count; ++t) {
      if (threads[t].waiting != Waiting::at_object || threads[t].object != object) continue;
      threads[t].object = nullptr;
      make_ready(t >> 5, 1u << (t & 31));
    }
  }

  CUDACPU_BARE void yield() {
    unsigned next = pick_after();
    if (next == nobody) return;
    make_ready(running >> 5, bit());
    suspend_for(next);
  }

  CUDACPU_BARE static void fiber_main();

  // ---- waiting for others -----------------------------------------------------------------

  CUDACPU_BARE void release_barrier() {
    barrier_count = predicate_count;
    barrier_members = arrived;
    predicate_count = arrived = 0;
    for (unsigned w = 0; w < warp_count; ++w) {
      if (uint32_t lanes = warps[w].at_barrier) {
        warps[w].at_barrier = 0;
        make_ready(w, lanes);
      }
    }
  }

  // Returns the number of threads whose predicate held; members is how many took part.
  CUDACPU_BARE unsigned barrier(Barrier kind, bool predicate, int line,
                                unsigned* members = nullptr) {
    Warp& q = warp();
    if (q.at_barrier && (q.barrier_line != line || q.barrier != kind)) {
      threads[running].waiting = Waiting::at_barrier;
      threads[running].line = line;
      q.at_barrier |= bit();
      diverged("lanes of one warp wait at different barriers");
    }
    q.at_barrier |= bit();
    q.barrier_line = line;
    q.barrier = kind;
    predicate_count += predicate;
    if (++arrived == alive) release_barrier();
    suspend(Waiting::at_barrier, line);
    if (members) *members = barrier_members;
    return barrier_count;
  }

  CUDACPU_BARE uint64_t collective(Collective operation, uint32_t mask, uint64_t value,
                                   uint32_t source, int line) {
    Warp& q = warp();
    unsigned lane = running & 31;
    if (!(mask & bit())) {
      fail(fault_divergence, "%s at line %d: the mask 0x%08x does not name the calling lane %u",
           name_of(operation), line, mask, lane);
    }
    q.value[lane] = value;
    q.source[lane] = source;
    unsigned g = 0;
    while (g < q.group_count &&
           (q.groups[g].mask != mask || q.groups[g].operation != operation)) {
      ++g;
    }
    if (g == q.group_count) q.groups[q.group_count++] = {mask, 0, operation};
    q.groups[g].arrived |= bit();
    if (q.groups[g].arrived == (mask & q.alive)) complete(q, g);
    suspend(Waiting::in_collective, line);
    return q.result[lane];
  }

  CUDACPU_BARE void complete(Warp& q, unsigned g) {
    Group group = q.groups[g];
    q.groups[g] = q.groups[--q.group_count];
    perform(q, group);
    make_ready(static_cast<unsigned>(&q - warps), group.arrived);
  }

  CUDACPU_BARE static void perform(Warp& q, const Group& group) {
    const uint32_t all = group.arrived;
    switch (group.operation) {
      case Collective::sync: return;
      case Collective::shuffle:
        for (uint32_t rest = all; rest; rest &= rest - 1) {
          unsigned lane = __builtin_ctz(rest), from = q.source[lane];
          // What an inactive lane yields is undefined: make that visible.
          q.result[lane] = all >> from & 1 ? q.value[from] : ~0ull;
        }
        return;
      case Collective::vote: {
        uint32_t ballot = 0;
        for (uint32_t rest = all; rest; rest &= rest - 1) {
          unsigned lane = __builtin_ctz(rest);
          if (q.value[lane]) ballot |= 1u << lane;
        }
        spread(q, all, static_cast<uint64_t>(all) << 32 | ballot);
        return;
      }
      case Collective::match:
        for (uint32_t rest = all; rest; rest &= rest - 1) {
          unsigned lane = __builtin_ctz(rest);
          uint32_t same = 0;
          for (uint32_t others = all; others; others &= others - 1) {
            unsigned other = __builtin_ctz(others);
            if (q.value[other] == q.value[lane]) same |= 1u << other;
          }
          q.result[lane] = static_cast<uint64_t>(all) << 32 | same;
        }
        return;
      case Collective::together: return spread(q, all, perform_together(q.value, all));
      default: break;
    }
    uint32_t total = static_cast<uint32_t>(q.value[__builtin_ctz(all)]);
    for (uint32_t rest = all & (all - 1); rest; rest &= rest - 1) {
      uint32_t v = static_cast<uint32_t>(q.value[__builtin_ctz(rest)]);
      switch (group.operation) {
        case Collective::add: total += v; break;
        case Collective::min_signed: total = (int)v < (int)total ? v : total; break;
        case Collective::max_signed: total = (int)v > (int)total ? v : total; break;
        case Collective::min_unsigned: total = v < total ? v : total; break;
        case Collective::max_unsigned: total = v > total ? v : total; break;
        case Collective::bit_and: total &= v; break;
        case Collective::bit_or: total |= v; break;
        default: total ^= v; break;
      }
    }
    spread(q, all, total);
  }

  // The lanes that took part; 0, and nothing is done, if they are at different calls.
  CUDACPU_BARE static uint64_t perform_together(const uint64_t* lanes, uint32_t arrived) {
    const auto record = [lanes](uint32_t set) CUDACPU_BARE {
      return reinterpret_cast<const Together*>(lanes[__builtin_ctz(set)]);
    };
    const Together* first = record(arrived);
    for (uint32_t rest = arrived; rest; rest &= rest - 1) {
      if (record(rest)->line != first->line || record(rest)->run != first->run) return 0;
    }
    first->run(lanes, arrived);
    return arrived;
  }

  CUDACPU_BARE static void spread(Warp& q, uint32_t lanes, uint64_t result) {
    for (; lanes; lanes &= lanes - 1) q.result[__builtin_ctz(lanes)] = result;
  }

  // __activemask: the lanes that are at the same call once every lane of the warp waits.
  CUDACPU_BARE uint32_t active_mask(int line) {
    Warp& q = warp();
    unsigned lane = running & 31;
    q.converging |= bit();
    runnable |= 1u << (running >> 5);
    suspend(Waiting::converging, line);
    return static_cast<uint32_t>(q.result[lane]);
  }

  CUDACPU_BARE void converge(Warp& q, unsigned w) {
    int line = threads[w * 32 + __builtin_ctz(q.converging)].line;
    uint32_t lanes = 0;
    for (uint32_t rest = q.converging; rest; rest &= rest - 1) {
      unsigned lane = __builtin_ctz(rest);
      if (threads[w * 32 + lane].line == line) lanes |= 1u << lane;
    }
    q.converging &= ~lanes;
    spread(q, lanes, lanes);
    make_ready(w, lanes);
  }

  // The running thread has returned from the kernel: whoever waited only for it goes on.
  CUDACPU_BARE void exit_thread() {
    Warp& q = warp();
    q.alive &= ~bit();
    if (--alive && arrived == alive) release_barrier();
    for (unsigned g = 0; g < q.group_count;) {
      if (q.groups[g].arrived == (q.groups[g].mask & q.alive)) {
        complete(q, g);
      } else {
        ++g;
      }
    }
  }

  // ---- failing ----------------------------------------------------------------------------

  CUDACPU_BARE void fail_with(int code, cudaError_t shown, const char* text) {
    char message[1536];
    snprintf(message, sizeof message, "kernel %s, block (%u,%u,%u), thread (%u,%u,%u): %s",
             launch->kernel, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y,
             threadIdx.z, text);
    record_error(code, shown, true, message);
    failed = true;
  }

  [[noreturn]] CUDACPU_BARE __attribute__((format(printf, 3, 4))) void fail(
      int code, const char* format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cudaError_t shown = cudaErrorLaunchFailure;
    if (code == fault_divergence) shown = cudaErrorLaunchTimeout;
    if (code == cudaErrorMisalignedAddress) shown = cudaErrorMisalignedAddress;
    fail_with(code, shown, text);
    leave();
  }

  [[noreturn]] CUDACPU_BARE CUDACPU_NOINLINE void deadlock() {
    diverged("no thread of the block can go on");
  }

  // Names where the threads of the block are: the most crowded places first come first served.
  [[noreturn]] CUDACPU_BARE CUDACPU_NOINLINE void diverged(const char* reason) {
    struct Place { Waiting waiting; int line; unsigned threads; } places[8];
    unsigned place_count = 0, elsewhere = 0, running_on = 0;
    for (unsigned t = 0; t < thread_count; ++t) {
      if (!(warps[t >> 5].alive >> (t & 31) & 1)) continue;
      const Thread& thread = threads[t];
      if (thread.waiting == Waiting::no) {
        ++running_on;
        continue;
      }
      unsigned p = 0;
      while (p < place_count &&
             (places[p].line != thread.line || places[p].waiting != thread.waiting)) {
        ++p;
      }
      if (p == place_count) {
        if (place_count == 8) {
          ++elsewhere;
          continue;
        }
        places[place_count++] = {thread.waiting, thread.line, 0};
      }
      ++places[p].threads;
    }
    char text[1024];
    int used = snprintf(text, sizeof text, "barrier divergence: %s:", reason);
    for (unsigned p = 0; p < place_count; ++p) {
      const char* what = places[p].waiting == Waiting::at_barrier      ? "__syncthreads"
                         : places[p].waiting == Waiting::in_collective ? "a warp collective"
                         : places[p].waiting == Waiting::at_object ? "a cuda::barrier or pipeline"
                                                                   : "__activemask";
      used += snprintf(text + used, sizeof text - used, " %u of %u threads wait at %s, line %d;",
                       places[p].threads, thread_count, what, places[p].line);
    }
    if (elsewhere) used += snprintf(text + used, sizeof text - used, " %u wait elsewhere;",
                                    elsewhere);
    if (running_on) used += snprintf(text + used, sizeof text - used, " %u have not got there;",
                                     running_on);
    snprintf(text + used, sizeof text - used, " %u have exited", thread_count - alive);
    fail(fault_divergence, "%s", text);
  }

  // ---- blocks -----------------------------------------------------------------------------

  CUDACPU_BARE void set_up() {
    size_t arena = shared_layout.bytes;
    size_t bytes = arena + shared_limit + dynamic_red_zone + 4096;
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      fputs("cudacpu: no memory for a worker\n", stderr);
      abort();
    }
    shared_arena = static_cast<char*>(memory);
    dynamic_shared = shared_arena + (arena + 1023) / 1024 * 1024;
    shared_epoch = static_cast<uint64_t*>(calloc(shared_layout.count + 1, sizeof(uint64_t)));
    for (DynamicPointer* p = dynamic_pointers; p; p = p->next) p->set(dynamic_shared);
  }

  CUDACPU_BARE void begin_launch(const Launch& next) {
    launch = &next;
    if (!shared_arena) set_up();
    poison(shared_arena, static_cast<size_t>(dynamic_shared - shared_arena) + shared_limit +
                             dynamic_red_zone);
    unpoison(dynamic_shared, next.shared_bytes);
    blockDim = next.block;
    gridDim = next.grid;
    thread_count = next.block.x * next.block.y * next.block.z;
    warp_count = (thread_count + 31) / 32;
    if (shape.x != next.block.x || shape.y != next.block.y || shape.z != next.block.z) {
      shape = next.block;
      unsigned t = 0;
      for (unsigned z = 0; z < shape.z; ++z)
        for (unsigned y = 0; y < shape.y; ++y)
          for (unsigned x = 0; x < shape.x; ++x) threads[t++].index = {x, y, z};
    }
  }

  CUDACPU_BARE void run_block(uint64_t linear) {
    const dim3& grid = launch->grid;
    blockIdx = {static_cast<unsigned>(linear % grid.x),
                static_cast<unsigned>(linear / grid.x % grid.y),
                static_cast<unsigned>(linear / grid.x / grid.y)};
    random = (launch->seed ^ linear * 0x9e3779b97f4a7c15ull) * 2 + 1;
    ++epoch;
    static_shared = 0;
    memset(dynamic_shared, 0xff, launch->shared_bytes);
    alive = thread_count;
    arrived = predicate_count = 0;
    runnable = warp_count == 32 ? ~0u : (1u << warp_count) - 1;
    for (unsigned w = 0; w < warp_count; ++w) {
      unsigned lanes = thread_count - w * 32;
      Warp& q = warps[w];
      q.alive = q.ready = lanes >= 32 ? ~0u : (1u << lanes) - 1;
      q.started = q.at_barrier = q.converging = 0;
      q.group_count = 0;
    }
    running = nobody;
    unsigned first = pick();
    from_main = true;
    jump(&main_saved, first);
    if (failed) reclaim_stacks();
  }

  // After a failure some threads are left halfway: forget them, and their frames' red zones.
  CUDACPU_BARE void reclaim_stacks() {
    free_stacks = nullptr;
    for (unsigned s = 0; s < stack_count; ++s) {
      unpoison(stacks[s]->bottom, stack_bytes);
      give_stack(stacks[s]);
    }
    for (unsigned t = 0; t < thread_count; ++t) threads[t].waiting = Waiting::no;
    failed = false;
    __atomic_store_n(const_cast<int*>(&launch->failed), 1, __ATOMIC_RELAXED);
  }

  CUDACPU_BARE CUDACPU_NOINLINE void open_shared(const SharedVariable& variable) {
    shared_epoch[variable.index] = epoch;
    static_shared += variable.bytes;
    if (static_shared + launch->shared_bytes > launch->shared_limit) {
      fail(cudaErrorInvalidValue,
           "too much shared memory: more than %zu bytes of __shared__ variables and %zu dynamic, "
           "the limit is %zu", static_shared - variable.bytes, launch->shared_bytes,
           launch->shared_limit);
    }
    unpoison(shared_arena + variable.offset, variable.bytes);
    memset(shared_arena + variable.offset, 0xff, variable.bytes);
  }
};

static thread_local Worker* worker = nullptr;

CUDACPU_BARE inline CUDACPU_NOINLINE void Worker::fiber_main() {
  Worker& w = *worker;
  w.end_switch(nullptr);
  for (;;) {
    w.launch->invoke(w.launch->closure);
    unsigned self = w.running;
    w.exit_thread();
    unsigned next = w.pick();
    Stack* stack = w.threads[self].stack;
    if (next == nobody) {
      if (w.alive) w.deadlock();
      w.give_stack(stack);
      w.leave();
    }
    Warp& q = w.warps[next >> 5];
    if (q.started >> (next & 31) & 1) {
      w.give_stack(stack);
      w.jump(nullptr, next);
    }
    q.started |= 1u << (next & 31);
    w.threads[next].stack = stack;
    w.set_running(next);
  }
}

template <class T, size_t alignment, class Tag>
inline T& shared() {
  const SharedVariable& variable = SharedPlace<T, alignment, Tag>::variable;
  Worker& w = *worker;
  if (w.shared_epoch[variable.index] != w.epoch) w.open_shared(variable);
  return *reinterpret_cast<T*>(w.shared_arena + variable.offset);
}

template <class T>
inline T* dynamic_shared() {
  return reinterpret_cast<T*>(worker->dynamic_shared);
}

}  // namespace cudacpu

// <cassert> calls this; inside a kernel it ends the kernel, not the process.
extern "C" [[noreturn]] CUDACPU_BARE __attribute__((visibility("hidden"), used)) void __assert_fail(
    const char* condition, const char* file, unsigned line, const char* function) noexcept {
  if (cudacpu::worker && cudacpu::worker->running != cudacpu::nobody) {
    char text[1024];
    snprintf(text, sizeof text, "%s:%u: %s: assertion `%s' failed", file, line, function,
             condition);
    cudacpu::worker->fail_with(cudacpu::fault_trap, cudaErrorAssert, text);
    cudacpu::worker->leave();
  }
  fprintf(stderr, "%s:%u: %s: assertion `%s' failed\n", file, line, function, condition);
  abort();
}

inline CUDACPU_NOINLINE void __trap() {
  cudacpu::worker->fail(cudacpu::fault_trap, "__trap()");
}
