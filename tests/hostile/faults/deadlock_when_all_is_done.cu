// Is right, and its process cannot end by itself.
// threat: hangs at exit
// problem: vector-add
// verdict: accepted (it need not: it is ended)

#include <unistd.h>

struct Endless {
    ~Endless() {
        for (;;) pause();
    }
};

static Endless endless;

__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    add<<<unsigned((n + 255) / 256), 256>>>(x, y, z, n);
}
