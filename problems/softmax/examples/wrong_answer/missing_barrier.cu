// The threads of a block do not wait for each other before they read the partial sums.
// verdict: wrong_answer

__global__ void softmax(const VAR* x, VAR* y, size_t n) {
    __shared__ float largest[256];
    __shared__ float sums[256];
    x += blockIdx.x * n;
    y += blockIdx.x * n;
    const unsigned t = threadIdx.x;
    float mine = static_cast<float>(x[0]);
    for (size_t j = t; j < n; j += 256) mine = fmaxf(mine, static_cast<float>(x[j]));
    largest[t] = mine;
    __syncthreads();
    for (int i = 0; i < 256; ++i) mine = fmaxf(mine, largest[i]);
    sums[t] = 0.0f;
    for (size_t j = t; j < n; j += 256) sums[t] += expf(static_cast<float>(x[j]) - mine);
    float sum = 0.0f;
    for (int i = 0; i < 256; ++i) sum += sums[i];
    for (size_t j = t; j < n; j += 256) {
        y[j] = static_cast<VAR>(expf(static_cast<float>(x[j]) - mine) / sum);
    }
}

extern "C" void solution(const VAR* input_matrix, VAR* output_matrix, size_t m, size_t n) {
    softmax<<<unsigned(m), 256>>>(input_matrix, output_matrix, n);
}
