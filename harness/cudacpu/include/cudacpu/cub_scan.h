// cub::BlockScan. Values are combined one after the other within each 32 threads, then with what
// comes before those.
#pragma once
#include "cub_common.h"

namespace cub {

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <class T, int x_size, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int y_size = 1,
          int z_size = 1, int legacy = 0>
class BlockScan {
  static constexpr int threads = x_size * y_size * z_size;
  using Plus = std::plus<>;

 public:
  using TempStorage = cudacpu::Room<T, threads + 1>;  // the last: the prefix of the block

  BlockScan() : room(cudacpu::shared<TempStorage, alignof(TempStorage), BlockScan>()) {}
  BlockScan(TempStorage& room) : room(room) {}

  // ---- exclusive --------------------------------------------------------------------------

  void ExclusiveSum(T input, T& output, CUDACPU_PLACE) {
    ExclusiveScan(input, output, T(0), Plus(), place);
  }
  void ExclusiveSum(T input, T& output, T& aggregate, CUDACPU_PLACE) {
    ExclusiveScan(input, output, T(0), Plus(), aggregate, place);
  }
  template <class Prefix, class = std::enable_if_t<std::is_class_v<Prefix>>>
  void ExclusiveSum(T input, T& output, Prefix& prefix, CUDACPU_PLACE) {
    ExclusiveScan(input, output, Plus(), prefix, place);
  }
  template <int items> void ExclusiveSum(T (&input)[items], T (&output)[items], CUDACPU_PLACE) {
    ExclusiveScan(input, output, T(0), Plus(), place);
  }
  template <int items>
  void ExclusiveSum(T (&input)[items], T (&output)[items], T& aggregate, CUDACPU_PLACE) {
    ExclusiveScan(input, output, T(0), Plus(), aggregate, place);
  }
  template <int items, class Prefix, class = std::enable_if_t<std::is_class_v<Prefix>>>
  void ExclusiveSum(T (&input)[items], T (&output)[items], Prefix& prefix, CUDACPU_PLACE) {
    ExclusiveScan(input, output, Plus(), prefix, place);
  }

  template <class Op>
  void ExclusiveScan(T input, T& output, T initial, Op op, CUDACPU_PLACE) {
    T aggregate = input;
    ExclusiveScan(input, output, initial, op, aggregate, place);
  }
  template <class Op>
  void ExclusiveScan(T input, T& output, T initial, Op op, T& aggregate, CUDACPU_PLACE) {
    output = before(input, op, aggregate, &initial, place);
  }
  template <class Op> void ExclusiveScan(T input, T& output, Op op, CUDACPU_PLACE) {
    T aggregate = input;
    output = before(input, op, aggregate, nullptr, place);
  }
  template <class Op, class = std::enable_if_t<std::is_class_v<Op>>>
  void ExclusiveScan(T input, T& output, Op op, T& aggregate, CUDACPU_PLACE) {
    output = before(input, op, aggregate, nullptr, place);
  }
  template <class Op, class Prefix, class = std::enable_if_t<std::is_class_v<Op>>,
            class = std::enable_if_t<std::is_class_v<Prefix> && !std::is_same_v<Prefix, T>>>
  void ExclusiveScan(T input, T& output, Op op, Prefix& prefix, CUDACPU_PLACE) {
    T aggregate = input;
    const T within = before(input, op, aggregate, nullptr, place);
    const T first = prefix_of(prefix, aggregate, place);
    output = cudacpu::rank_in_block() == 0 ? first : op(first, within);
  }
  template <int items, class Op>
  void ExclusiveScan(T (&input)[items], T (&output)[items], T initial, Op op, CUDACPU_PLACE) {
    T aggregate = initial;
    ExclusiveScan(input, output, initial, op, aggregate, place);
  }
  template <int items, class Op>
  void ExclusiveScan(T (&input)[items], T (&output)[items], T initial, Op op, T& aggregate,
                     CUDACPU_PLACE) {
    T total = cudacpu::combine_items(input, op);
    exclusive_items(input, output, before(total, op, aggregate, &initial, place), op);
  }
  template <int items, class Op, class Prefix, class = std::enable_if_t<std::is_class_v<Op>>,
            class = std::enable_if_t<std::is_class_v<Prefix> && !std::is_same_v<Prefix, T>>>
  void ExclusiveScan(T (&input)[items], T (&output)[items], Op op, Prefix& prefix, CUDACPU_PLACE) {
    T first = input[0];
    ExclusiveScan(cudacpu::combine_items(input, op), first, op, prefix, place);
    exclusive_items(input, output, first, op);
  }

  // ---- inclusive --------------------------------------------------------------------------

  void InclusiveSum(T input, T& output, CUDACPU_PLACE) {
    InclusiveScan(input, output, Plus(), place);
  }
  void InclusiveSum(T input, T& output, T& aggregate, CUDACPU_PLACE) {
    InclusiveScan(input, output, Plus(), aggregate, place);
  }
  template <class Prefix, class = std::enable_if_t<std::is_class_v<Prefix>>>
  void InclusiveSum(T input, T& output, Prefix& prefix, CUDACPU_PLACE) {
    InclusiveScan(input, output, Plus(), prefix, place);
  }
  template <int items> void InclusiveSum(T (&input)[items], T (&output)[items], CUDACPU_PLACE) {
    InclusiveScan(input, output, Plus(), place);
  }
  template <int items>
  void InclusiveSum(T (&input)[items], T (&output)[items], T& aggregate, CUDACPU_PLACE) {
    InclusiveScan(input, output, Plus(), aggregate, place);
  }
  template <int items, class Prefix, class = std::enable_if_t<std::is_class_v<Prefix>>>
  void InclusiveSum(T (&input)[items], T (&output)[items], Prefix& prefix, CUDACPU_PLACE) {
    InclusiveScan(input, output, Plus(), prefix, place);
  }

  template <class Op> void InclusiveScan(T input, T& output, Op op, CUDACPU_PLACE) {
    T aggregate = input;
    InclusiveScan(input, output, op, aggregate, place);
  }
  template <class Op>
  void InclusiveScan(T input, T& output, Op op, T& aggregate, CUDACPU_PLACE) {
    const T earlier = before(input, op, aggregate, nullptr, place);
    output = cudacpu::rank_in_block() == 0 ? input : op(earlier, input);
  }
  template <class Op, class Prefix,
            class = std::enable_if_t<std::is_class_v<Prefix> && !std::is_same_v<Prefix, T>>>
  void InclusiveScan(T input, T& output, Op op, Prefix& prefix, CUDACPU_PLACE) {
    T first = input;
    ExclusiveScan(input, first, op, prefix, place);
    output = op(first, input);
  }
  template <int items, class Op>
  void InclusiveScan(T (&input)[items], T (&output)[items], Op op, CUDACPU_PLACE) {
    T aggregate = input[0];
    InclusiveScan(input, output, op, aggregate, place);
  }
  template <int items, class Op, class = std::enable_if_t<std::is_class_v<Op>>>
  void InclusiveScan(T (&input)[items], T (&output)[items], Op op, T& aggregate, CUDACPU_PLACE) {
    const T earlier =
        before(cudacpu::combine_items(input, op), op, aggregate, nullptr, place);
    inclusive_items(input, output, cudacpu::rank_in_block() == 0 ? nullptr : &earlier, op);
  }
  template <int items, class Op>
  void InclusiveScan(T (&input)[items], T (&output)[items], T initial, Op op, CUDACPU_PLACE) {
    T aggregate = initial;
    const T earlier = before(cudacpu::combine_items(input, op), op, aggregate, &initial, place);
    inclusive_items(input, output, &earlier, op);
  }
  template <int items, class Op, class Prefix, class = std::enable_if_t<std::is_class_v<Op>>,
            class = std::enable_if_t<std::is_class_v<Prefix> && !std::is_same_v<Prefix, T>>>
  void InclusiveScan(T (&input)[items], T (&output)[items], Op op, Prefix& prefix, CUDACPU_PLACE) {
    T first = input[0];
    ExclusiveScan(cudacpu::combine_items(input, op), first, op, prefix, place);
    inclusive_items(input, output, &first, op);
  }

 private:
  TempStorage& room;

  // What comes before the calling thread, and in `aggregate` all of the block without `initial`.
  // The first thread gets `initial`, or without one what is undefined.
  template <class Op>
  T before(T input, Op op, T& aggregate, const T* initial, cudacpu::Place place) {
    const unsigned rank = cudacpu::rank_in_block();
    new (&room[rank]) T(input);
    cudacpu::sync_block(place);
    if (rank == 0) {
      for (int i = 1; i < threads; ++i) {
        if (i % 32) room[i] = op(room[i - 1], room[i]);
      }
      for (int i = 32; i < threads; ++i) room[i] = op(room[i / 32 * 32 - 1], room[i]);
    }
    cudacpu::sync_block(place);
    aggregate = room[threads - 1];
    if (rank) return initial ? op(*initial, room[rank - 1]) : room[rank - 1];
    if (!initial) cudacpu::spoil(input);
    return initial ? *initial : input;
  }

  // The first warp asks for the prefix; what its first lane gets counts.
  template <class Prefix>
  T prefix_of(Prefix& prefix, const T& aggregate, cudacpu::Place place) {
    const unsigned rank = cudacpu::rank_in_block();
    if (rank < 32) {
      T answer = prefix(aggregate);
      if (rank == 0) new (&room[threads]) T(answer);
    }
    cudacpu::sync_block(place);
    return room[threads];
  }

  template <int items, class Op>
  static void exclusive_items(const T (&input)[items], T (&output)[items], T sum, Op& op) {
    for (int i = 0; i < items; ++i) {
      const T next = op(sum, input[i]);  // input and output may be the same
      output[i] = sum;
      sum = next;
    }
  }

  template <int items, class Op>
  static void inclusive_items(const T (&input)[items], T (&output)[items], const T* first,
                              Op& op) {
    output[0] = first ? op(*first, input[0]) : input[0];
    for (int i = 1; i < items; ++i) output[i] = op(output[i - 1], input[i]);
  }
};

}  // namespace cub
