// cub::BlockRadixSort: a stable sort by the bits of the keys.
#pragma once
#include "cub_common.h"
#include "cub_memory.h"

namespace cudacpu {

// The bits of `key` as an unsigned number of the same order; -0 counts as 0.
template <class T>
inline uint64_t order_of(const T& key) {
  constexpr unsigned bits = sizeof(T) * 8;
  static_assert(bits <= 64, "keys have at most 64 bits");
  const uint64_t top = 1ull << (bits - 1), all = top | (top - 1);
  uint64_t word = to_word(key);
  if constexpr (std::is_integral_v<T>) {
    return std::is_signed_v<T> ? word ^ top : word;
  } else {
    if (word == top) word = 0;
    return word & top ? ~word & all : word | top;
  }
}

// Sorts `count` places by `order`, merging sorted runs; `spare` is as long.
inline void sort_places(const uint64_t* order, unsigned* places, unsigned* spare, unsigned count) {
  for (unsigned run = 1; run < count; run *= 2) {
    for (unsigned first = 0; first < count; first += 2 * run) {
      const unsigned middle = first + run < count ? first + run : count;
      const unsigned end = middle + run < count ? middle + run : count;
      unsigned a = first, b = middle;
      for (unsigned i = first; i < end; ++i) {
        const bool take_b = a == middle || (b < end && order[places[b]] < order[places[a]]);
        spare[i] = places[take_b ? b++ : a++];
      }
    }
    memcpy(places, spare, count * sizeof *places);
  }
}

}  // namespace cudacpu

namespace cub {

template <class K, int x_size, int items, class V = NullType, int radix_bits = 4,
          bool memoize = true, BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS, int config = 0,
          int y_size = 1, int z_size = 1, int legacy = 0>
class BlockRadixSort {
  static constexpr int threads = x_size * y_size * z_size, count = threads * items;
  static constexpr int key_bits = sizeof(K) * 8;

 public:
  struct TempStorage {
    cudacpu::Room<K, count> keys;
    cudacpu::Room<V, count> values;
    cudacpu::Room<unsigned, count> places;
  };
  BlockRadixSort() : room(cudacpu::shared<TempStorage, alignof(TempStorage), BlockRadixSort>()) {}
  BlockRadixSort(TempStorage& room) : room(room) {}

#define CUDACPU_SORT(name, descending, striped)                                                 \
  void name(K (&keys)[items], int begin = 0, int end = key_bits, CUDACPU_PLACE) {               \
    sort<descending, striped>(keys, nullptr, begin, end, place);                                \
  }                                                                                             \
  void name(K (&keys)[items], V (&values)[items], int begin = 0, int end = key_bits,            \
            CUDACPU_PLACE) {                                                                    \
    sort<descending, striped>(keys, &values, begin, end, place);                                \
  }
  CUDACPU_SORT(Sort, false, false)
  CUDACPU_SORT(SortDescending, true, false)
  CUDACPU_SORT(SortBlockedToStriped, false, true)
  CUDACPU_SORT(SortDescendingBlockedToStriped, true, true)
#undef CUDACPU_SORT

 private:
  TempStorage& room;

  template <bool descending, bool striped>
  void sort(K (&keys)[items], V (*values)[items], int begin, int end, cudacpu::Place place) {
    const int rank = int(cudacpu::rank_in_block());
    for (int i = 0; i < items; ++i) {
      new (&room.keys[rank * items + i]) K(keys[i]);
      if (values) new (&room.values[rank * items + i]) V((*values)[i]);
    }
    cudacpu::sync_block(place);
    if (rank == 0) find_places(descending, begin, end);
    cudacpu::sync_block(place);
    for (int i = 0; i < items; ++i) {
      const unsigned from = room.places[striped ? i * threads + rank : rank * items + i];
      keys[i] = room.keys[from];
      if (values) (*values)[i] = room.values[from];
    }
  }

  void find_places(bool descending, int begin, int end) {
    const int width = end - begin;
    const uint64_t mask = width >= 64 ? ~0ull : (1ull << width) - 1;
    uint64_t* order = static_cast<uint64_t*>(malloc(count * (sizeof(uint64_t) + 4)));
    for (int i = 0; i < count; ++i) {
      const uint64_t digits = cudacpu::order_of(room.keys[i]) >> begin & mask;
      order[i] = descending ? ~digits : digits;
      room.places[i] = static_cast<unsigned>(i);
    }
    cudacpu::sort_places(order, &room.places[0], reinterpret_cast<unsigned*>(order + count), count);
    free(order);
  }
};

}  // namespace cub
