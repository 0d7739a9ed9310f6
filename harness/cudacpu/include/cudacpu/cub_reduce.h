// cub::BlockReduce. Each warp's values are combined as a tree, the warps' one after the other.
#pragma once
#include "cub_common.h"

namespace cub {

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS,
  BLOCK_REDUCE_WARP_REDUCTIONS_NONDETERMINISTIC,
};

// Thread 0 has the result; what others get is undefined.
template <class T, int x_size, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int y_size = 1,
          int z_size = 1, int legacy = 0>
class BlockReduce {
  static constexpr int threads = x_size * y_size * z_size;

 public:
  using TempStorage = cudacpu::Room<T, threads>;

  BlockReduce() : room(cudacpu::shared<TempStorage, alignof(TempStorage), BlockReduce>()) {}
  BlockReduce(TempStorage& room) : room(room) {}

  template <class Op> T Reduce(T input, Op op, CUDACPU_PLACE) {
    return reduce(input, op, threads, place);
  }
  template <class Op> T Reduce(T input, Op op, int valid, CUDACPU_PLACE) {
    return reduce(input, op, valid, place);
  }
  template <int items, class Op> T Reduce(T (&inputs)[items], Op op, CUDACPU_PLACE) {
    return reduce(cudacpu::combine_items(inputs, op), op, threads, place);
  }
  T Sum(T input, CUDACPU_PLACE) { return reduce(input, std::plus<>(), threads, place); }
  T Sum(T input, int valid, CUDACPU_PLACE) { return reduce(input, std::plus<>(), valid, place); }
  template <int items> T Sum(T (&inputs)[items], CUDACPU_PLACE) {
    return Reduce(inputs, std::plus<>(), place);
  }

 private:
  TempStorage& room;

  template <class Op>
  T reduce(T input, Op op, int valid, cudacpu::Place place) {
    const unsigned rank = cudacpu::rank_in_block();
    new (&room[rank]) T(input);
    cudacpu::sync_block(place);
    if (rank != 0) {
      cudacpu::spoil(input);
      return input;
    }
    if (valid > threads) valid = threads;
    for (int first = 0; first < valid; first += 32) {
      const auto at = [&](int i) -> T& { return room[first + i]; };
      cudacpu::combine_tree(at, valid - first < 32 ? valid - first : 32, op);
      if (first) room[0] = op(room[0], room[first]);
    }
    return room[0];
  }
};

}  // namespace cub
