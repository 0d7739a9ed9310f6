// Asynchronous copies by all threads of a group; each call is a batch.
#pragma once
#include "../cooperative_groups.h"
#include "../cudacpu/async.h"
#include "../cudacpu/shape.h"

namespace cooperative_groups {

// `bytes` bytes.
template <class Group, class T>
inline void memcpy_async(const Group& group, T* to, const T* from, size_t bytes) {
  cudacpu::Copies& copies = cudacpu::my_copies();
  cudacpu::copy_share_later(to, from, bytes, group.thread_rank(), group.size(), nullptr,
                            copies.committed);
  ++copies.committed;
}
// The smaller of two numbers of elements.
template <class Group, class T>
inline void memcpy_async(const Group& group, T* to, size_t room, const T* from, size_t count) {
  memcpy_async(group, to, from, (room < count ? room : count) * sizeof(T));
}
template <unsigned left, class Group>
inline void wait_prior(const Group& group, CUDACPU_LINE) {
  cudacpu::wait_for_batches(left);
  group.sync(line);
}
template <class Group>
inline void wait(const Group& group, CUDACPU_LINE) {
  wait_prior<0>(group, line);
}

}  // namespace cooperative_groups
