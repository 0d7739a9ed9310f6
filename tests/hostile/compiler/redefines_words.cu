// Gives words of the language another meaning, for what the judge adds to its text.
// threat: 7
// problem: vector-add
// verdict: compile_error

#define const
#define size_t unsigned char
#define extern static

__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    add<<<unsigned((n + 255) / 256), 256>>>(x, y, z, n);
}
