// Prefix sums (and other scans) over a tile or a coalesced group.
#pragma once
#include "reduce.h"

namespace cooperative_groups {

template <class Group, class T, class Op>
inline T inclusive_scan(const Group& group, T value, Op op, CUDACPU_LINE) {
  unsigned rank = group.thread_rank();
  for (unsigned step = 1; step < group.size(); step *= 2) {
    T before = group.shfl_up(value, step, line);
    if (rank >= step) value = op(before, value);
  }
  return value;
}

template <class Group, class T>
inline T inclusive_scan(const Group& group, T value, CUDACPU_LINE) {
  return inclusive_scan(group, value, plus<T>(), line);
}

template <class Group, class T, class Op>
inline T exclusive_scan(const Group& group, T value, Op op, CUDACPU_LINE) {
  T before = group.shfl_up(inclusive_scan(group, value, op, line), 1, line);
  return group.thread_rank() == 0 ? T() : before;
}

template <class Group, class T>
inline T exclusive_scan(const Group& group, T value, CUDACPU_LINE) {
  return exclusive_scan(group, value, plus<T>(), line);
}

}  // namespace cooperative_groups
