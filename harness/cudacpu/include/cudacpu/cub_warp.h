// cub::WarpReduce and WarpScan, for warps or parts of them ("logical warps").
#pragma once
#include "cub_common.h"

namespace cudacpu {

// What a lane brings to an operation of its logical warp, and takes from it.
template <class T, class Op, int size>
struct LaneRecord : Together {
  T value, before;  // in: the lane's; out: what is asked for, and what a scan has before it
  Op* op;
  int valid;
  bool flag;

  static LaneRecord& of(uint64_t lane) {
    const Together* record = reinterpret_cast<const Together*>(lane);
    return *const_cast<LaneRecord*>(static_cast<const LaneRecord*>(record));
  }

  // Calls `act` with the records of the logical warp, and how many of them count; `whole` says
  // whether none of those is missing.
  template <class Act>
  static void act_on(const uint64_t* lanes, uint32_t arrived, Act act) {
    const int first = __builtin_ctz(arrived) / size * size;
    LaneRecord& one = of(lanes[__builtin_ctz(arrived)]);
    int count = 0;
    while (count < one.valid && first + count < 32 && arrived >> (first + count) & 1) ++count;
    act(lanes + first, count, count == one.valid, *one.op);
  }

  static void reduce(const uint64_t* lanes, uint32_t arrived) {
    act_on(lanes, arrived, [](const uint64_t* first, int count, bool whole, Op& op) {
      combine_tree([first](int i) -> T& { return of(first[i]).value; }, count, op);
      if (!whole && count) spoil(of(first[0]).value);  // it waits for a lane that is not there
    });
  }

  static void scan(const uint64_t* lanes, uint32_t arrived) {
    act_on(lanes, arrived, [](const uint64_t* first, int count, bool, Op& op) {
      for (int i = 1; i < count; ++i) {
        of(first[i]).before = of(first[i - 1]).value;
        of(first[i]).value = op(of(first[i - 1]).value, of(first[i]).value);
      }
    });
  }

  // All get the value of the flagged lane.
  static void spread(const uint64_t* lanes, uint32_t arrived) {
    const LaneRecord* source = nullptr;
    for (uint32_t rest = arrived; rest; rest &= rest - 1) {
      if (of(lanes[__builtin_ctz(rest)]).flag) source = &of(lanes[__builtin_ctz(rest)]);
    }
    for (uint32_t rest = arrived; rest; rest &= rest - 1) {
      T& value = of(lanes[__builtin_ctz(rest)]).value;
      if (source) value = source->value;
      else spoil(value);
    }
  }

  // Each lane's sum reaches to the end of its segment: the next head, or its tail.
  template <bool heads>
  static void segments(const uint64_t* lanes, uint32_t arrived) {
    act_on(lanes, arrived, [](const uint64_t* first, int count, bool, Op& op) {
      for (int i = count - 2; i >= 0; --i) {
        const bool ends = heads ? of(first[i + 1]).flag : of(first[i]).flag;
        if (!ends) of(first[i]).value = op(of(first[i]).value, of(first[i + 1]).value);
      }
    });
  }
};

// Brings `value` to the operation `run` of the calling lane's logical warp of `size` lanes.
template <int size, class T, class Op>
inline LaneRecord<T, Op, size> in_warp(const char* name,
                                       void (*run)(const uint64_t*, uint32_t), const T& value,
                                       Op& op, int valid, bool flag, Place place) {
  static_assert(size >= 1 && size <= 32, "a logical warp has 1 to 32 lanes");
  LaneRecord<T, Op, size> record{{name, place.line, run}, value, value, &op,
                                 valid < size ? valid : size, flag};
  const uint32_t mask = (size == 32 ? ~0u : (1u << (size & 31)) - 1) << (lane() / size * size);
  const Together* call = &record;
  if (!worker->collective(Collective::together, mask, reinterpret_cast<uintptr_t>(call), 0,
                          place.line)) {
    worker->fail(fault_divergence, "barrier divergence: lanes of one warp are at %s, line %d, and "
                 "at another line or operation", name, place.line);
  }
  return record;
}

}  // namespace cudacpu

namespace cub {

// Lane 0 of the logical warp has the result; what others get is undefined.
template <class T, int size = 32>
class WarpReduce {
 public:
  struct TempStorage { unsigned char unused; };
  WarpReduce(TempStorage&) {}

  T Sum(T input, CUDACPU_PLACE) { return Reduce(input, std::plus<>(), size, place); }
  T Sum(T input, int valid, CUDACPU_PLACE) { return Reduce(input, std::plus<>(), valid, place); }
  template <class Op> T Reduce(T input, Op op, CUDACPU_PLACE) {
    return Reduce(input, op, size, place);
  }
  template <class Op> T Reduce(T input, Op op, int valid, CUDACPU_PLACE) {
    using Record = cudacpu::LaneRecord<T, Op, size>;
    T result = cudacpu::in_warp<size>("cub::WarpReduce", &Record::reduce, input, op, valid, false,
                                      place).value;
    if (cudacpu::lane() % size) cudacpu::spoil(result);
    return result;
  }
  template <class F> T HeadSegmentedSum(T input, F head, CUDACPU_PLACE) {
    return HeadSegmentedReduce(input, head, std::plus<>(), place);
  }
  template <class F> T TailSegmentedSum(T input, F tail, CUDACPU_PLACE) {
    return TailSegmentedReduce(input, tail, std::plus<>(), place);
  }
  template <class F, class Op> T HeadSegmentedReduce(T input, F head, Op op, CUDACPU_PLACE) {
    using Record = cudacpu::LaneRecord<T, Op, size>;
    return cudacpu::in_warp<size>("cub::WarpReduce", &Record::template segments<true>, input, op,
                                  size, bool(head), place).value;
  }
  template <class F, class Op> T TailSegmentedReduce(T input, F tail, Op op, CUDACPU_PLACE) {
    using Record = cudacpu::LaneRecord<T, Op, size>;
    return cudacpu::in_warp<size>("cub::WarpReduce", &Record::template segments<false>, input, op,
                                  size, bool(tail), place).value;
  }
};

template <class T, int size = 32>
class WarpScan {
  using Plus = std::plus<>;

 public:
  struct TempStorage { unsigned char unused; };
  WarpScan(TempStorage&) {}

  void InclusiveSum(T input, T& output, CUDACPU_PLACE) {
    InclusiveScan(input, output, Plus(), place);
  }
  void InclusiveSum(T input, T& output, T& aggregate, CUDACPU_PLACE) {
    InclusiveScan(input, output, Plus(), aggregate, place);
  }
  void ExclusiveSum(T input, T& output, CUDACPU_PLACE) {
    ExclusiveScan(input, output, T(0), Plus(), place);
  }
  void ExclusiveSum(T input, T& output, T& aggregate, CUDACPU_PLACE) {
    ExclusiveScan(input, output, T(0), Plus(), aggregate, place);
  }
  template <class Op> void InclusiveScan(T input, T& output, Op op, CUDACPU_PLACE) {
    output = scan(input, op, place).value;
  }
  template <class Op>
  void InclusiveScan(T input, T& output, Op op, T& aggregate, CUDACPU_PLACE) {
    output = scan(input, op, place).value;
    aggregate = Broadcast(output, size - 1, place);
  }
  template <class Op> void ExclusiveScan(T input, T& output, Op op, CUDACPU_PLACE) {
    output = before(scan(input, op, place), nullptr, op);
  }
  template <class Op> void ExclusiveScan(T input, T& output, T initial, Op op, CUDACPU_PLACE) {
    output = before(scan(input, op, place), &initial, op);
  }
  template <class Op>
  void ExclusiveScan(T input, T& output, T initial, Op op, T& aggregate, CUDACPU_PLACE) {
    const auto record = scan(input, op, place);
    output = before(record, &initial, op);
    aggregate = Broadcast(record.value, size - 1, place);
  }
  template <class Op>
  void Scan(T input, T& inclusive, T& exclusive, Op op, CUDACPU_PLACE) {
    const auto record = scan(input, op, place);
    inclusive = record.value;
    exclusive = before(record, nullptr, op);
  }
  template <class Op>
  void Scan(T input, T& inclusive, T& exclusive, T initial, Op op, CUDACPU_PLACE) {
    const auto record = scan(input, op, place);
    inclusive = op(initial, record.value);
    exclusive = before(record, &initial, op);
  }
  T Broadcast(T input, unsigned source, CUDACPU_PLACE) {
    Nothing op;
    using Record = cudacpu::LaneRecord<T, Nothing, size>;
    return cudacpu::in_warp<size>("cub::WarpScan", &Record::spread, input, op, size,
                                  cudacpu::lane() % size == source, place).value;
  }

 private:
  struct Nothing {};

  template <class Op> auto scan(T input, Op& op, cudacpu::Place place) {
    using Record = cudacpu::LaneRecord<T, Op, size>;
    return cudacpu::in_warp<size>("cub::WarpScan", &Record::scan, input, op, size, false, place);
  }
  template <class Record, class Op> static T before(Record record, const T* initial, Op& op) {
    if (cudacpu::lane() % size) return initial ? op(*initial, record.before) : record.before;
    if (!initial) cudacpu::spoil(record.before);
    return initial ? *initial : record.before;
  }
};

}  // namespace cub
