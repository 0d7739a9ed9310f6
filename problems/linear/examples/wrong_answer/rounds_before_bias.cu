// Stores the product in half precision and adds the bias to that: where they
// cancel, little is left.
// verdict: wrong_answer
// dtypes: float16, bfloat16

__global__ void kernel(const VAR* x, const VAR* weight, const VAR* bias, VAR* output, size_t height,
                       size_t n, size_t k) {
    const size_t column = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t row = blockIdx.y * size_t(blockDim.y) + threadIdx.y;
    if (row >= height || column >= n) return;
    float sum = 0.0f;
    for (size_t i = 0; i < k; ++i) {
        sum += static_cast<float>(x[row * k + i]) * static_cast<float>(weight[i * n + column]);
    }
    const VAR product = static_cast<VAR>(sum);
    output[row * n + column] =
        static_cast<VAR>(static_cast<float>(product) + static_cast<float>(bias[column]));
}

extern "C" void solution(const VAR* matrix_x, const VAR* weight, const VAR* bias,
                         VAR* output_matrix, size_t batch, size_t m, size_t n, size_t k) {
    const size_t height = batch * m;
    const dim3 block(32, 8);
    const dim3 grid(unsigned((n + 31) / 32), unsigned((height + 7) / 8));
    kernel<<<grid, block>>>(matrix_x, weight, bias, output_matrix, height, n, k);
}
