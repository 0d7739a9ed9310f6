// cub::BlockLoad, BlockStore and BlockExchange: the same elements by every algorithm.
#pragma once
#include "cub_common.h"

namespace cub {

enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED,
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED,
};

// Item i of thread t is element t * items + i ("blocked"), or i * threads + t ("striped").
template <class I, class T, int items>
inline void LoadDirectBlocked(int rank, I from, T (&to)[items]) {
  for (int i = 0; i < items; ++i) to[i] = from[rank * items + i];
}
template <class I, class T, int items>
inline void LoadDirectBlocked(int rank, I from, T (&to)[items], int valid) {
  for (int i = 0; i < items; ++i) {
    if (rank * items + i < valid) to[i] = from[rank * items + i];
  }
}
template <class I, class T, int items, class D>
inline void LoadDirectBlocked(int rank, I from, T (&to)[items], int valid, D otherwise) {
  for (T& item : to) item = otherwise;
  LoadDirectBlocked(rank, from, to, valid);
}
template <int threads, class I, class T, int items>
inline void LoadDirectStriped(int rank, I from, T (&to)[items]) {
  for (int i = 0; i < items; ++i) to[i] = from[i * threads + rank];
}
template <int threads, class I, class T, int items>
inline void LoadDirectStriped(int rank, I from, T (&to)[items], int valid) {
  for (int i = 0; i < items; ++i) {
    if (i * threads + rank < valid) to[i] = from[i * threads + rank];
  }
}
template <int threads, class I, class T, int items, class D>
inline void LoadDirectStriped(int rank, I from, T (&to)[items], int valid, D otherwise) {
  for (T& item : to) item = otherwise;
  LoadDirectStriped<threads>(rank, from, to, valid);
}
template <class O, class T, int items>
inline void StoreDirectBlocked(int rank, O to, T (&from)[items]) {
  for (int i = 0; i < items; ++i) to[rank * items + i] = from[i];
}
template <class O, class T, int items>
inline void StoreDirectBlocked(int rank, O to, T (&from)[items], int valid) {
  for (int i = 0; i < items; ++i) {
    if (rank * items + i < valid) to[rank * items + i] = from[i];
  }
}
template <int threads, class O, class T, int items>
inline void StoreDirectStriped(int rank, O to, T (&from)[items]) {
  for (int i = 0; i < items; ++i) to[i * threads + rank] = from[i];
}
template <int threads, class O, class T, int items>
inline void StoreDirectStriped(int rank, O to, T (&from)[items], int valid) {
  for (int i = 0; i < items; ++i) {
    if (i * threads + rank < valid) to[i * threads + rank] = from[i];
  }
}

template <class T, int x_size, int items, BlockLoadAlgorithm algorithm = BLOCK_LOAD_DIRECT,
          int y_size = 1, int z_size = 1, int legacy = 0>
class BlockLoad {
 public:
  struct TempStorage { unsigned char unused; };
  BlockLoad() = default;
  BlockLoad(TempStorage&) {}

  template <class I, class... Limits>
  void Load(I from, T (&to)[items], Limits... limits) {
    const int rank = int(cudacpu::rank_in_block());
    if constexpr (algorithm == BLOCK_LOAD_STRIPED) {
      LoadDirectStriped<x_size * y_size * z_size>(rank, from, to, limits...);
    } else {
      LoadDirectBlocked(rank, from, to, limits...);
    }
  }
};

template <class T, int x_size, int items, BlockStoreAlgorithm algorithm = BLOCK_STORE_DIRECT,
          int y_size = 1, int z_size = 1, int legacy = 0>
class BlockStore {
 public:
  struct TempStorage { unsigned char unused; };
  BlockStore() = default;
  BlockStore(TempStorage&) {}

  template <class O, class... Limits>
  void Store(O to, T (&from)[items], Limits... limits) {
    const int rank = int(cudacpu::rank_in_block());
    if constexpr (algorithm == BLOCK_STORE_STRIPED) {
      StoreDirectStriped<x_size * y_size * z_size>(rank, to, from, limits...);
    } else {
      StoreDirectBlocked(rank, to, from, limits...);
    }
  }
};

template <class T, int x_size, int items, bool slices = false, int y_size = 1, int z_size = 1,
          int legacy = 0>
class BlockExchange {
  static constexpr int threads = x_size * y_size * z_size;

 public:
  using TempStorage = cudacpu::Room<T, threads * items>;
  BlockExchange() : room(cudacpu::shared<TempStorage, alignof(TempStorage), BlockExchange>()) {}
  BlockExchange(TempStorage& room) : room(room) {}

  void StripedToBlocked(T (&from)[items], T (&to)[items], CUDACPU_PLACE) {
    const int rank = int(cudacpu::rank_in_block());
    StoreDirectStriped<threads>(rank, &room[0], from);
    cudacpu::sync_block(place);
    LoadDirectBlocked(rank, &room[0], to);
  }
  void BlockedToStriped(T (&from)[items], T (&to)[items], CUDACPU_PLACE) {
    const int rank = int(cudacpu::rank_in_block());
    StoreDirectBlocked(rank, &room[0], from);
    cudacpu::sync_block(place);
    LoadDirectStriped<threads>(rank, &room[0], to);
  }
  void StripedToBlocked(T (&both)[items], CUDACPU_PLACE) { StripedToBlocked(both, both, place); }
  void BlockedToStriped(T (&both)[items], CUDACPU_PLACE) { BlockedToStriped(both, both, place); }

 private:
  TempStorage& room;
};

}  // namespace cub
