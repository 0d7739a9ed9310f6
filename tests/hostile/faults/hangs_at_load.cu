// A constructor of a static object never returns.
// threat: hangs at load
// problem: vector-add
// verdict: time_limit

#include <unistd.h>

struct Endless {
    Endless() {
        for (;;) pause();
    }
};

static Endless endless;

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
}
