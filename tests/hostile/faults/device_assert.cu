// An assertion of its kernel fails.
// threat: device assert
// problem: vector-add
// verdict: runtime_error

#include <cassert>

__global__ void doubtful(size_t n) { assert(n == 0); }

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    doubtful<<<1, 1>>>(n);
}
