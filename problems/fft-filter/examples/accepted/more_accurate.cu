// Sums up in float64, with roots of unity to match: better than was asked for must never be worse.
// verdict: accepted

using Real = decltype(VAR::x);

__device__ double2 root(size_t turn, size_t n, double sign) {
    const double angle = 2.0 * double(turn) / double(n);
    return {cospi(angle), sign * sinpi(angle)};
}

__device__ VAR product(VAR a, VAR b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }

__device__ VAR sum_of_row(const VAR* row, size_t n, size_t k, Real sign) {
    double2 sum = {0, 0};
    for (size_t j = 0; j < n; ++j) {
        const double2 r = root(j * k % n, n, sign);
        sum.x += row[j].x * r.x - row[j].y * r.y;
        sum.y += row[j].x * r.y + row[j].y * r.x;
    }
    return {Real(sum.x), Real(sum.y)};
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
    filter_row<<<unsigned(batch), 128>>>(signals, responses, spectrum, filtered, n);
}
