// Reductions over a tile or a coalesced group.
#pragma once
#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class T = void> struct plus { T operator()(T a, T b) const { return a + b; } };
template <class T = void> struct less { T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T = void> struct greater { T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T = void> struct bit_and { T operator()(T a, T b) const { return a & b; } };
template <class T = void> struct bit_or { T operator()(T a, T b) const { return a | b; } };
template <class T = void> struct bit_xor { T operator()(T a, T b) const { return a ^ b; } };
template <> struct plus<void> {
  template <class T> T operator()(T a, T b) const { return a + b; }
};
template <> struct less<void> {
  template <class T> T operator()(T a, T b) const { return b < a ? b : a; }
};
template <> struct greater<void> {
  template <class T> T operator()(T a, T b) const { return a < b ? b : a; }
};
template <> struct bit_and<void> {
  template <class T> T operator()(T a, T b) const { return a & b; }
};
template <> struct bit_or<void> {
  template <class T> T operator()(T a, T b) const { return a | b; }
};
template <> struct bit_xor<void> {
  template <class T> T operator()(T a, T b) const { return a ^ b; }
};

// Every member gets the result. A butterfly for full tiles, so that all see the same bits; for
// other sizes lane 0's running total.
template <class Group, class T, class Op>
inline T reduce(const Group& group, T value, Op op, CUDACPU_LINE) {
  unsigned size = group.size();
  if ((size & (size - 1)) == 0) {
    for (unsigned step = size / 2; step; step /= 2) {
      value = op(value, group.shfl_xor(value, step, line));
    }
    return value;
  }
  T total = group.shfl(value, 0, line);
  for (unsigned rank = 1; rank < size; ++rank) {
    total = op(total, group.shfl(value, static_cast<int>(rank), line));
  }
  return total;
}

}  // namespace cooperative_groups
