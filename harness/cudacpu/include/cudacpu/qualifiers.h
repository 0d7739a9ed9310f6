// CUDA's keywords, as plain C++. The rewriter has already dealt with what macros cannot say
// (launches, extern __shared__, __noinline__); what is left here is what macros can.
#pragma once

#define __CUDACC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __NVCC__ 1
// The branch a Hopper GPU would take is the one to judge, also where an older one is simpler.
#define __CUDA_ARCH__ 900
#define CUDART_VERSION 13000
#define CUDA_VERSION 13000

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __builtin_assume(condition) ((void)0)
#define __assume(condition) ((void)0)
// Only for declarations that the rewriter leaves alone (namespace scope, macro bodies): those
// have no bounds checks and are not filled with garbage.
#define __shared__ static thread_local

#if defined(__SANITIZE_ADDRESS__)
#define CUDACPU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CUDACPU_ASAN 1
#endif
#endif
#ifndef CUDACPU_ASAN
#define CUDACPU_ASAN 0
#endif

#define CUDACPU_EXPORT extern "C" __attribute__((visibility("default"), used))
#define CUDACPU_NOINLINE __attribute__((noinline))
// The scheduler leaves frames without returning from them: they must have no red zones.
#if CUDACPU_ASAN
#define CUDACPU_BARE __attribute__((no_sanitize_address))
#else
#define CUDACPU_BARE
#endif
// The line of the caller, in the submitter's numbering.
#define CUDACPU_LINE int line = __builtin_LINE()
