// Asynchronous copies (cp.async). The source is read at the call, and the destination written when
// the copy is waited for, as late as a GPU may: what does not wait reads what was there before.
#pragma once
#include <vector>

#include "warp.h"

namespace cudacpu {

struct Copy {
  char* to;
  unsigned bytes;       // at most 16
  const void* owner;    // a barrier or a pipeline's shared state; null: the thread's own batches
  uint64_t batch;
  char data[16];
};

// The copies of a thread that are under way. What nobody waits for is never written.
struct Copies {
  uint64_t block = 0;
  uint64_t committed = 0;  // batches of the thread's own
  std::vector<Copy> pending;
};
static thread_local Copies copies_of_threads[max_threads];

inline Copies& copies_of(unsigned thread) {
  Copies& copies = copies_of_threads[thread];
  if (copies.block != worker->epoch) {
    copies.block = worker->epoch;
    copies.committed = 0;
    copies.pending.clear();
  }
  return copies;
}
inline Copies& my_copies() { return copies_of(worker->running); }

// Up to 16 bytes, of which the last `zeros` are not read but zero.
inline void copy_later(void* to, const void* from, size_t bytes, size_t zeros, const void* owner,
                       uint64_t batch) {
  Copy copy{static_cast<char*>(to), static_cast<unsigned>(bytes), owner, batch, {}};
  memcpy(copy.data, from, bytes - zeros);
#if CUDACPU_ASAN
  for (size_t i = 0; i < bytes; ++i) (void)static_cast<volatile char*>(to)[i];  // may it be written?
#endif
  my_copies().pending.push_back(copy);
}

// Writes what `thread` has under way and `is_due` says.
template <class Due>
inline void finish_copies(unsigned thread, Due is_due) {
  std::vector<Copy>& pending = copies_of(thread).pending;
  size_t kept = 0;
  for (const Copy& copy : pending) {
    if (is_due(copy)) {
      memcpy(copy.to, copy.data, copy.bytes);
    } else {
      pending[kept++] = copy;
    }
  }
  pending.resize(kept);
}

// The thread's own batches but for the last `left`.
inline void wait_for_batches(uint64_t left) {
  const uint64_t committed = my_copies().committed;
  finish_copies(worker->running, [=](const Copy& copy) {
    return !copy.owner && copy.batch + left < committed;
  });
}

// The share of the calling thread, number `rank` of `size`, in a copy of `bytes`.
inline void copy_share_later(void* to, const void* from, size_t bytes, unsigned rank, unsigned size,
                             const void* owner, uint64_t batch) {
  for (size_t first = size_t(rank) * 16; first < bytes; first += size_t(size) * 16) {
    copy_later(static_cast<char*>(to) + first, static_cast<const char*>(from) + first,
               bytes - first < 16 ? bytes - first : 16, 0, owner, batch);
  }
}

}  // namespace cudacpu
