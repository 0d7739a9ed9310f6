// Fibers: stacks that the scheduler switches between by hand, all on one OS thread.
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "qualifiers.h"

#if CUDACPU_ASAN
extern "C" void __sanitizer_start_switch_fiber(void** fake, const void* bottom, size_t size);
extern "C" void __sanitizer_finish_switch_fiber(void* fake, const void** bottom, size_t* size);
extern "C" void __asan_poison_memory_region(const volatile void* begin, size_t bytes);
extern "C" void __asan_unpoison_memory_region(const volatile void* begin, size_t bytes);
#endif

namespace cudacpu {

inline void poison(const volatile void* begin, size_t bytes) {
#if CUDACPU_ASAN
  __asan_poison_memory_region(begin, bytes);
#else
  (void)begin, (void)bytes;
#endif
}

inline void unpoison(const volatile void* begin, size_t bytes) {
#if CUDACPU_ASAN
  __asan_unpoison_memory_region(begin, bytes);
#else
  (void)begin, (void)bytes;
#endif
}

// Saves the callee-saved registers on the current stack, stores its pointer in *save, and
// continues on the stack `load`. A fresh stack "returns" into its entry point, with a return
// address of zero above it so that unwinders stop there.
extern "C" __attribute__((visibility("hidden"))) void cudacpu_switch(void** save, void* load);
extern "C" __attribute__((visibility("hidden"))) void cudacpu_begin();

#if defined(__x86_64__)
asm(R"(
.pushsection .text
.p2align 4
.globl cudacpu_switch
.hidden cudacpu_switch
.type cudacpu_switch, @function
cudacpu_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  jmp *%rcx
.size cudacpu_switch, .-cudacpu_switch
.popsection
)");

inline void* fresh_stack_pointer(char* top, void (*entry)()) {
  void** frame = reinterpret_cast<void**>(top) - 8;
  memset(frame, 0, 8 * sizeof(void*));
  frame[6] = reinterpret_cast<void*>(entry);
  return frame;
}
#elif defined(__aarch64__)
asm(R"(
.pushsection .text
.p2align 4
.globl cudacpu_switch
.hidden cudacpu_switch
.type cudacpu_switch, %function
cudacpu_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size cudacpu_switch, .-cudacpu_switch
.globl cudacpu_begin
.hidden cudacpu_begin
.type cudacpu_begin, %function
cudacpu_begin:
  mov x30, xzr
  br x19
.size cudacpu_begin, .-cudacpu_begin
.popsection
)");

inline void* fresh_stack_pointer(char* top, void (*entry)()) {
  void** frame = reinterpret_cast<void**>(top) - 20;
  memset(frame, 0, 20 * sizeof(void*));
  frame[0] = reinterpret_cast<void*>(entry);
  frame[11] = reinterpret_cast<void*>(&cudacpu_begin);
  return frame;
}
#else
#error "cudacpu has fibers for x86-64 and aarch64 only"
#endif

constexpr size_t stack_bytes = CUDACPU_ASAN ? 512 << 10 : 256 << 10;
constexpr size_t stack_guard_bytes = 64 << 10;

// A stack with an inaccessible page range below it: an overflow is a fault, not a corruption.
struct Stack {
  char* bottom;
  char* top;
  Stack* next_free;

  static Stack* create(unsigned number) {
    void* memory = mmap(nullptr, stack_bytes + stack_guard_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, stack_guard_bytes, PROT_NONE) != 0) {
      fputs("cudacpu: no memory for the stacks of a block's threads\n", stderr);
      abort();
    }
    Stack* stack = static_cast<Stack*>(malloc(sizeof(Stack)));
    stack->bottom = static_cast<char*>(memory) + stack_guard_bytes;
    // Staggered tops: at one page offset they would all compete for the same cache sets.
    stack->top = stack->bottom + stack_bytes - (number * 320) % 4096;
    stack->next_free = nullptr;
    return stack;
  }
};

}  // namespace cudacpu
