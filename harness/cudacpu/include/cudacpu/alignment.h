// Misaligned accesses. A GPU can only access what lies at a multiple of its size (CUDA error 716);
// the CPU we run on mostly does not mind. In the sanitized build the compiler asks before every
// load and store (-fsanitize=alignment), and the answer is ours: UndefinedBehaviorSanitizer's own
// would print and go on. Its calling convention: compiler-rt, lib/ubsan/ubsan_handlers.h.
#pragma once
#include "block.h"

namespace cudacpu {

// `type` has `bytes` bytes. In host code nothing is said: there the CPU's own rules hold.
CUDACPU_BARE CUDACPU_NOINLINE inline void misaligned(const char* access, const char* type,
                                                     unsigned long long needed,
                                                     const char* file, int line) {
  if (!worker || worker->running == nobody) return;
  char place[256] = "";
  if (file) snprintf(place, sizeof place, " at %s:%d", file, line);
  else if (line) snprintf(place, sizeof place, " at line %d", line);
  worker->fail(cudaErrorMisalignedAddress,
               "misaligned address: %s%s%s, which needs an address that is a multiple of %llu "
               "bytes%s (a GPU stops with CUDA error 716)",
               access, *type ? " of " : "", type, needed, place);
}

#if CUDACPU_ASAN
// For accesses that the headers make in the submitter's name.
template <class T>
CUDACPU_BARE inline void check_alignment(const char* access, const T* address, int line) {
  if (reinterpret_cast<uintptr_t>(address) % alignof(T)) {
    misaligned(access, "", alignof(T), nullptr, line);
  }
}
#else
template <class T> inline void check_alignment(const char*, const T*, int) {}
#endif

struct CheckedPlace {
  const char* file;
  uint32_t line, column;
};

struct CheckedType {
  uint16_t kind, info;
  char name[1];  // quoted
};

struct CheckedAccess {
  CheckedPlace place;
  const CheckedType* type;
  unsigned char log2_alignment;
  unsigned char what;  // 0 load, 1 store; others only form an address or a reference
};

}  // namespace cudacpu

#if CUDACPU_ASAN
extern "C" __attribute__((visibility("hidden"), used)) CUDACPU_BARE CUDACPU_NOINLINE inline void
__ubsan_handle_type_mismatch_v1(cudacpu::CheckedAccess* access, uintptr_t) {
  if (access->what > 1) return;
  const char* file = access->place.file;
  const char* name = file ? strrchr(file, '/') : nullptr;
  // A place in our own headers tells the submitter nothing.
  if (file && strstr(file, "cudacpu/")) file = nullptr;
  if (file && name) file = name + 1;
  cudacpu::misaligned(access->what ? "a store" : "a load", access->type->name,
                      1ull << access->log2_alignment, file,
                      file ? static_cast<int>(access->place.line) : 0);
}
#endif
