// Takes a NaN for a missing number, and adds nothing instead.
// verdict: wrong_answer

__device__ float or_zero(float value) { return value == value ? value : 0.0f; }

__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    const float sum = or_zero(static_cast<float>(x[i])) + or_zero(static_cast<float>(y[i]));
    z[i] = static_cast<VAR>(sum);
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    add<<<unsigned((n + 255) / 256), 256>>>(x, y, z, n);
}
