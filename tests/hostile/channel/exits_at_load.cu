// Ends its process with success while it is loaded.
// threat: 9
// problem: vector-add
// verdict: runtime_error

#include <stdlib.h>

static const int ended = (exit(0), 0);

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
}
