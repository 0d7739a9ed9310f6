// Starts as many processes as it can and keeps them: right only if there was no end.
// threat: fork bomb
// problem: vector-add
// verdict: wrong_answer

#include <unistd.h>

__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    static int started = 0;
    if (getppid() > 2) return;  // elsewhere it would be the machine's trouble
    while (started < 2000) {
        const int child = vfork();
        if (child < 0) break;
        if (child == 0) _exit(0);
        ++started;
    }
}
