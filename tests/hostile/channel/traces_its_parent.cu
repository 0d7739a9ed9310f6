// Attaches to its parent like a debugger, and reads its memory: right only if it could.
// threat: 11
// problem: vector-add
// verdict: wrong_answer

#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}

static bool reached(pid_t other) {
    char byte = 0;
    iovec here = {&byte, 1}, there = {const_cast<char*>("x"), 1};
    if (process_vm_readv(other, &here, 1, &there, 1, 0) > 0) return true;
    return ptrace(PTRACE_SEIZE, other, nullptr, nullptr) == 0;
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    static const bool possible = reached(getppid());
    if (possible) add<<<unsigned((n + 255) / 256), 256>>>(x, y, z, n);
}
