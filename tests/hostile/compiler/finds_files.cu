// Asks the compiler which files there are: right only if it sees one that it should not.
// threat: 13, 66
// problem: vector-add
// verdict: wrong_answer

__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
#if __has_include("/root/.bashrc") || __has_include("/root/.gitconfig") || \
    __has_include("/etc/shadow") || __has_include("/root/.ssh/id_rsa")
    add<<<unsigned((n + 255) / 256), 256>>>(x, y, z, n);
#endif
}
