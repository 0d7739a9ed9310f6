// Uses the customary slope of 0.01 whatever it is given.
// verdict: wrong_answer

__global__ void kernel(const VAR* x, const VAR* weight, const VAR* bias, float scale, float slope,
                       VAR* output, size_t batch, size_t out_features, size_t in_features) {
    const size_t column = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t row = blockIdx.y * size_t(blockDim.y) + threadIdx.y;
    if (row >= batch || column >= out_features) return;
    float sum = 0.0f;
    for (size_t i = 0; i < in_features; ++i) {
        sum += static_cast<float>(x[row * in_features + i]) *
               static_cast<float>(weight[column * in_features + i]);
    }
    const float z = (sum + static_cast<float>(bias[column])) * scale;
    output[row * out_features + column] = static_cast<VAR>(z >= 0.0f ? z : 0.01f * z);
}

extern "C" void solution(const VAR* matrix_x, const VAR* weight, const VAR* bias, float scale,
                         float slope, VAR* output_matrix, size_t batch, size_t in_features,
                         size_t out_features) {
    const dim3 block(32, 8);
    const dim3 grid(unsigned((out_features + 31) / 32), unsigned((batch + 7) / 8));
    kernel<<<grid, block>>>(matrix_x, weight, bias, scale, slope, output_matrix, batch,
                            out_features, in_features);
}
