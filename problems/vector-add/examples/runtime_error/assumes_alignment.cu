// Loads four elements at once although the vectors may start anywhere: a misaligned address.
// verdict: runtime_error
// dtypes: float32

__global__ void add(const float* x, const float* y, float* z, size_t n) {
    const size_t i = (blockIdx.x * size_t(blockDim.x) + threadIdx.x) * 4;
    if (i + 4 <= n) {
        const float4 a = *reinterpret_cast<const float4*>(x + i);
        const float4 b = *reinterpret_cast<const float4*>(y + i);
        *reinterpret_cast<float4*>(z + i) =
            make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    } else {
        for (size_t j = i; j < n; ++j) z[j] = x[j] + y[j];
    }
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    add<<<unsigned((n + 1023) / 1024), 256>>>(x, y, z, n);
}
