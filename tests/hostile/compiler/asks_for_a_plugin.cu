// Asks the compiler for other options: right only if one was followed.
// threat: 7
// problem: vector-add
// verdict: wrong_answer

#pragma GCC optimize("-fplugin=/tmp/hostile.so")
#pragma GCC option("-DHOSTILE")
#pragma comment(linker, "-lhostile")

__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
#ifdef HOSTILE
    add<<<unsigned((n + 255) / 256), 256>>>(x, y, z, n);
#endif
}
