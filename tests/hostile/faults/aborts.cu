// Aborts.
// threat: abort
// problem: vector-add
// verdict: runtime_error

#include <stdlib.h>

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    abort();
}
