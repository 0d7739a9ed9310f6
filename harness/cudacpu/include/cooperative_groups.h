// The block and tile parts of cooperative groups, and coalesced groups.
#pragma once
#include "cuda_runtime.h"

namespace cooperative_groups {

namespace details {
// How many lanes of `mask` come before `lane`, and which lane is the n-th of it.
inline unsigned rank_in(unsigned mask, unsigned lane) {
  return static_cast<unsigned>(__popc(mask & ((1u << lane) - 1)));
}
inline unsigned nth_lane(unsigned mask, unsigned n) {
  for (; n && mask; --n) mask &= mask - 1;
  return mask ? static_cast<unsigned>(__builtin_ctz(mask)) : cudacpu::lane();
}
}  // namespace details

struct thread_group {};  // the common base: no group behind it can be used without its type

struct thread_block : thread_group {
  static void sync(CUDACPU_LINE) { __syncthreads(line); }
  static unsigned thread_rank() { return cudacpu::worker->running; }
  static unsigned size() { return cudacpu::worker->thread_count; }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
};

inline thread_block this_thread_block() { return {}; }

// The calling thread alone.
struct single_thread : thread_group {
  static void sync() {}
  static constexpr unsigned thread_rank() { return 0; }
  static constexpr unsigned size() { return 1; }
  static constexpr unsigned num_threads() { return 1; }
};

inline single_thread this_thread() { return {}; }

// The warp-level operations, for a group that is a set of lanes of one warp.
template <class Group>
struct lane_group : thread_group {
  unsigned members() const { return static_cast<const Group*>(this)->mask(); }
  unsigned thread_rank() const { return details::rank_in(members(), cudacpu::lane()); }
  unsigned size() const { return static_cast<unsigned>(__popc(members())); }
  unsigned num_threads() const { return size(); }
  void sync(CUDACPU_LINE) const { __syncwarp(members(), line); }
  int any(int predicate, CUDACPU_LINE) const { return __any_sync(members(), predicate, line); }
  int all(int predicate, CUDACPU_LINE) const { return __all_sync(members(), predicate, line); }
  unsigned ballot(int predicate, CUDACPU_LINE) const {
    return packed(__ballot_sync(members(), predicate, line));
  }
  template <class T> unsigned match_any(T value, CUDACPU_LINE) const {
    return packed(__match_any_sync(members(), value, line));
  }
  template <class T> unsigned match_all(T value, int& all, CUDACPU_LINE) const {
    return packed(__match_all_sync(members(), value, &all, line));
  }
  template <class T> T shfl(T value, int rank, CUDACPU_LINE) const {
    return from(value, static_cast<unsigned>(rank) % size(), line);
  }
  template <class T> T shfl_up(T value, unsigned delta, CUDACPU_LINE) const {
    unsigned rank = thread_rank();
    return from(value, delta > rank ? rank : rank - delta, line);
  }
  template <class T> T shfl_down(T value, unsigned delta, CUDACPU_LINE) const {
    unsigned rank = thread_rank();
    return from(value, delta < size() - rank ? rank + delta : rank, line);
  }
  template <class T> T shfl_xor(T value, unsigned lane_mask, CUDACPU_LINE) const {
    unsigned rank = thread_rank() ^ lane_mask;
    return from(value, rank < size() ? rank : thread_rank(), line);
  }

 private:
  unsigned packed(unsigned lanes) const {  // from lanes of the warp to ranks of the group
    unsigned result = 0, rank = 0;
    for (unsigned rest = members(); rest; rest &= rest - 1, ++rank) {
      if (lanes >> __builtin_ctz(rest) & 1) result |= 1u << rank;
    }
    return result;
  }
  template <class T> T from(T value, unsigned rank, int line) const {
    static_assert(sizeof(T) <= 32, "a shuffle moves at most 32 bytes");
    unsigned source = details::nth_lane(members(), rank);
    if constexpr (sizeof(T) <= 8) {
      return cudacpu::shuffle(members(), value, source, line);
    } else {
      T result;
      char* out = reinterpret_cast<char*>(&result);
      const char* in = reinterpret_cast<const char*>(&value);
      for (size_t done = 0; done < sizeof(T); done += 8) {
        size_t bytes = sizeof(T) - done < 8 ? sizeof(T) - done : 8;
        uint64_t word = 0;
        memcpy(&word, in + done, bytes);
        word = cudacpu::shuffle(members(), word, source, line);
        memcpy(out + done, &word, bytes);
      }
      return result;
    }
  }
};

template <unsigned Size, class Parent = void>
struct thread_block_tile : lane_group<thread_block_tile<Size, Parent>> {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                "tiles are powers of two of at most 32 threads");
  thread_block_tile() = default;
  template <class Other> thread_block_tile(const thread_block_tile<Size, Other>&) {}
  static unsigned mask() {
    unsigned first = cudacpu::lane() & ~(Size - 1);
    return (Size == 32 ? ~0u : (1u << (Size & 31)) - 1) << first;
  }
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  static unsigned thread_rank() { return cudacpu::lane() & (Size - 1); }
  static unsigned meta_group_rank() { return cudacpu::worker->running / Size; }
  static unsigned meta_group_size() { return (cudacpu::worker->thread_count + Size - 1) / Size; }
};

template <unsigned Size, class Parent>
inline thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return {};
}

struct coalesced_group : lane_group<coalesced_group> {
  unsigned lanes;
  explicit coalesced_group(unsigned lanes) : lanes(lanes) {}
  unsigned mask() const { return lanes; }
  unsigned meta_group_rank() const { return 0; }
  unsigned meta_group_size() const { return 1; }
};

inline coalesced_group coalesced_threads(CUDACPU_LINE) {
  return coalesced_group(__activemask(line));
}

template <class Parent>
inline coalesced_group binary_partition(const Parent& group, bool predicate, CUDACPU_LINE) {
  unsigned yes = __ballot_sync(group.members(), predicate, line);
  return coalesced_group(predicate ? yes : group.members() & ~yes);
}

template <class Parent, class T>
inline coalesced_group labeled_partition(const Parent& group, T label, CUDACPU_LINE) {
  return coalesced_group(__match_any_sync(group.members(), label, line));
}

template <class Group> inline void sync(const Group& group, CUDACPU_LINE) { group.sync(line); }
template <class Group> inline unsigned thread_rank(const Group& g) { return g.thread_rank(); }
template <class Group> inline unsigned group_size(const Group& g) { return g.size(); }

}  // namespace cooperative_groups
