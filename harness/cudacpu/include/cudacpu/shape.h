// How many bytes an asynchronous copy has: a number, or one that is known to be a multiple.
#pragma once
#include <stddef.h>

namespace cuda {

template <size_t alignment>
struct aligned_size_t {
  size_t value;
  explicit constexpr aligned_size_t(size_t value) : value(value) {}
  constexpr operator size_t() const { return value; }
};

enum thread_scope {
  thread_scope_system,
  thread_scope_device,
  thread_scope_block,
  thread_scope_thread,
};

}  // namespace cuda
