// Takes memory of the host and uses it, as long as it can.
// threat: memory bomb
// problem: vector-add
// verdict: memory_limit

#include <stdlib.h>
#include <string.h>

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    for (size_t block = 16 << 20;;) {
        void* const taken = malloc(block);
        if (taken != nullptr) memset(taken, 1, block);
    }
}
