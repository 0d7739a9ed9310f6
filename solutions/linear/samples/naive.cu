// The plainest right answer: one thread per element of the output.
//
// All matrices of the batch meet the same W, so they are treated as one tall matrix of batch * m
// rows. Threads that are neighbours in x read neighbouring columns of W and the same element of x.
// Every number is fetched again and again: see tiled.cu for what to do about it.
//
// VAR is the element type; the judge's build defines it as float, __half or __nv_bfloat16.

__global__ void linear(const VAR* x, const VAR* weight, const VAR* bias, VAR* output, size_t height,
                       size_t n, size_t k) {
    const size_t column = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t row = blockIdx.y * size_t(blockDim.y) + threadIdx.y;
    if (row >= height || column >= n) return;  // the grid is rounded up to whole blocks

    float sum = 0.0f;  // float32 whatever VAR is: a sum in half precision would lose digits
    for (size_t i = 0; i < k; ++i) {
        sum += static_cast<float>(x[row * k + i]) * static_cast<float>(weight[i * n + column]);
    }
    output[row * n + column] = static_cast<VAR>(sum + static_cast<float>(bias[column]));
}

extern "C" void solution(const VAR* matrix_x, const VAR* weight, const VAR* bias,
                         VAR* output_matrix, size_t batch, size_t m, size_t n, size_t k) {
    const size_t height = batch * m;
    const dim3 block(32, 8);
    const dim3 grid(unsigned((n + 31) / 32), unsigned((height + 7) / 8));
    linear<<<grid, block>>>(matrix_x, weight, bias, output_matrix, height, n, k);
}
