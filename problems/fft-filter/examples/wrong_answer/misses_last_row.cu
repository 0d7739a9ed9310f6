// One block too few: the last signal is never filtered.
// verdict: wrong_answer

using Real = decltype(VAR::x);

__device__ VAR root(size_t turn, size_t n, Real sign) {
    const Real angle = Real(2) * Real(turn) / Real(n);
    return {cospi(angle), sign * sinpi(angle)};
}

__device__ VAR product(VAR a, VAR b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }

__device__ VAR sum_of_row(const VAR* row, size_t n, size_t k, Real sign) {
    VAR sum = {0, 0};
    for (size_t j = 0; j < n; ++j) {
        const VAR term = product(row[j], root(j * k % n, n, sign));
        sum = {sum.x + term.x, sum.y + term.y};
    }
    return sum;
}

__global__ void filter_row(const VAR* signals, const VAR* responses, VAR* spectrum, VAR* filtered,
                           size_t n) {
    const size_t row = blockIdx.x * n;
    for (size_t k = threadIdx.x; k < n; k += blockDim.x) {
        spectrum[row + k] = product(sum_of_row(signals + row, n, k, -1), responses[row + k]);
    }
    __syncthreads();
    for (size_t j = threadIdx.x; j < n; j += blockDim.x) {
        const VAR sum = sum_of_row(spectrum + row, n, j, 1);
        filtered[row + j] = {sum.x / Real(n), sum.y / Real(n)};
    }
}

extern "C" void solution(const VAR* signals, const VAR* responses, VAR* filtered, size_t batch,
                         size_t n) {
    static VAR* spectrum = nullptr;
    static size_t capacity = 0;
    if (batch * n > capacity) {
        cudaFree(spectrum);
        capacity = batch * n;
        cudaMalloc(reinterpret_cast<void**>(&spectrum), capacity * sizeof(VAR));
    }
    if (batch == 1) return;
    filter_row<<<unsigned(batch - 1), 128>>>(signals, responses, spectrum, filtered, n);
}
