// Sixteen bytes a thread; n is a multiple of four.
__global__ void move(const float4* x, float4* y, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) y[i] = x[i];
}

extern "C" void solution(const VAR* x, VAR* y, size_t n) {
    const size_t fours = n / 4;
    move<<<unsigned((fours + 255) / 256), 256>>>((const float4*)x, (float4*)y, fours);
}
