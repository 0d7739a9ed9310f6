// Adds in float32 where float64 is asked for: half of the digits are lost.
// verdict: wrong_answer
// dtypes: float64

__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = static_cast<float>(x[i]) + static_cast<float>(y[i]);
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    add<<<unsigned((n + 255) / 256), 256>>>(x, y, z, n);
}
