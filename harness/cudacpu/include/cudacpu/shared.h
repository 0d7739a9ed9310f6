// __shared__ variables. Each declaration reserves, when the library is loaded, a place in an
// arena that every worker has a copy of; red zones between the places make an index past the
// end an AddressSanitizer report. The first thread of a block to reach a declaration fills it
// with 0xff bytes (NaN in every floating-point type), so that a read before a write shows.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "fiber.h"

namespace cudacpu {

constexpr size_t shared_default_limit = 48 << 10;
constexpr size_t shared_limit = 232448;  // 227 KiB, with cudaFuncSetAttribute
constexpr size_t shared_red_zone = 256;
constexpr size_t dynamic_red_zone = 64 << 10;

struct SharedVariable {
  uint32_t index;
  size_t offset, bytes;
};

static struct SharedLayout {
  uint32_t count = 0;
  size_t bytes = shared_red_zone;
} shared_layout;

inline SharedVariable reserve_shared(size_t bytes, size_t alignment) {
  if (alignment < 16) alignment = 16;
  size_t offset = (shared_layout.bytes + alignment - 1) / alignment * alignment;
  shared_layout.bytes = offset + bytes + shared_red_zone;
  return {shared_layout.count++, offset, bytes};
}

// Tag is a struct local to the declaring function: one place per declaration and instantiation.
template <class T, size_t alignment, class Tag>
struct SharedPlace {
  static inline const SharedVariable variable = reserve_shared(sizeof(T), alignment);
};

// A namespace-scope `extern __shared__ T name[];`: a thread_local pointer, set for each worker.
static struct DynamicPointer {
  void (*set)(void* base);
  DynamicPointer* next;
  explicit DynamicPointer(void (*set)(void*));
}* dynamic_pointers = nullptr;

inline DynamicPointer::DynamicPointer(void (*set)(void*)) : set(set), next(dynamic_pointers) {
  dynamic_pointers = this;
}

}  // namespace cudacpu
