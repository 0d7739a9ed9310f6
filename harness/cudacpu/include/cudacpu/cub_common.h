// What cub's parts share: functors, storage, places, and values that are nobody's.
#pragma once
#include <functional>
#include <new>
#include <type_traits>

#include "warp.h"

namespace cudacpu {

// The line of a call, as a last argument: an integer is taken for a parameter of cub's own first.
struct Place {
  int line;
  Place(int line) : line(line) {}
};
#define CUDACPU_PLACE ::cudacpu::Place place = __builtin_LINE()

// Room for `count` values in shared memory, without constructors.
template <class T, int count>
struct Room {
  alignas(T) alignas(16) unsigned char bytes[sizeof(T) * count];
  T& operator[](size_t i) { return reinterpret_cast<T*>(bytes)[i]; }
};

// What CUDA leaves undefined must show: 0xff bytes, as from a lane that is not there.
template <class T>
inline void spoil(T& value) {
  if constexpr (std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>) {
    memset(static_cast<void*>(&value), 0xff, sizeof value);
  }
}

inline unsigned rank_in_block() { return worker->running; }
inline void sync_block(Place place) { worker->barrier(Barrier::plain, false, place.line); }

// Combines neighbours, then neighbours of those: the result is in `at(0)`.
template <class At, class Op>
inline void combine_tree(At at, int count, Op& op) {
  for (int step = 1; step < count; step *= 2) {
    for (int i = 0; i + step < count; i += 2 * step) at(i) = op(at(i), at(i + step));
  }
}

template <int items, class T, class Op>
inline T combine_items(const T (&input)[items], Op& op) {
  T total = input[0];
  for (int i = 1; i < items; ++i) total = op(total, input[i]);
  return total;
}

}  // namespace cudacpu

namespace cub {

struct NullType {};

template <class K, class V>
struct KeyValuePair {
  using Key = K;
  using Value = V;
  K key;
  V value;
  KeyValuePair() = default;
  KeyValuePair(const K& key, const V& value) : key(key), value(value) {}
  bool operator!=(const KeyValuePair& other) const {
    return value != other.value || key != other.key;
  }
};

// Those of CUDA 12; newer releases have only the ones of cuda::.
struct Sum {
  template <class T, class U> auto operator()(T a, U b) const { return a + b; }
};
struct Max {
  template <class T, class U> std::common_type_t<T, U> operator()(T a, U b) const {
    return a < b ? b : a;
  }
};
struct Min {
  template <class T, class U> std::common_type_t<T, U> operator()(T a, U b) const {
    return b < a ? b : a;
  }
};
struct Equality {
  template <class T, class U> bool operator()(const T& a, const U& b) const { return a == b; }
};
struct Inequality {
  template <class T, class U> bool operator()(const T& a, const U& b) const { return a != b; }
};
struct ArgMax {
  template <class P> P operator()(const P& a, const P& b) const {
    return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <class P> P operator()(const P& a, const P& b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};

inline unsigned LaneId() { return cudacpu::lane(); }
inline unsigned WarpId() { return cudacpu::rank_in_block() / 32; }
inline int RowMajorTid(int x_size, int y_size, int) {
  return int(threadIdx.z) * x_size * y_size + int(threadIdx.y) * x_size + int(threadIdx.x);
}

}  // namespace cub
