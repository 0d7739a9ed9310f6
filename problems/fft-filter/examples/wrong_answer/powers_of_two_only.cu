// A radix-2 FFT; for lengths that are no power of two it computes something else.
// verdict: wrong_answer

using Real = decltype(VAR::x);

__device__ VAR product(VAR a, VAR b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }

// Stockham's FFT of one row by one block; the result is where the return value says.
__device__ VAR* transform(VAR* from, VAR* to, int n, Real sign) {
    for (int done = 1; done < n; done *= 2) {
        for (int i = threadIdx.x; i < n / 2; i += blockDim.x) {
            const int j = i % done, place = (i - j) * 2 + j;
            const Real angle = Real(j) / Real(done);
            const VAR root = {cospi(angle), sign * sinpi(angle)};
            const VAR a = from[i], b = product(from[i + n / 2], root);
            to[place] = {a.x + b.x, a.y + b.y};
            to[place + done] = {a.x - b.x, a.y - b.y};
        }
        __syncthreads();
        VAR* other = from;
        from = to;
        to = other;
    }
    return from;
}

__global__ void filter_row(const VAR* signals, const VAR* responses, VAR* filtered, int n) {
    extern __shared__ VAR memory[];
    const size_t row = blockIdx.x * size_t(n);
    for (int i = threadIdx.x; i < n; i += blockDim.x) memory[i] = signals[row + i];
    __syncthreads();
    VAR* spectrum = transform(memory, memory + 2 * n, n, -1);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        spectrum[i] = product(spectrum[i], responses[row + i]);
    }
    __syncthreads();
    const VAR* result = transform(spectrum, spectrum == memory ? memory + 2 * n : memory, n, 1);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        filtered[row + i] = {result[i].x / Real(n), result[i].y / Real(n)};
    }
}

extern "C" void solution(const VAR* signals, const VAR* responses, VAR* filtered, size_t batch,
                         size_t n) {
    filter_row<<<unsigned(batch), 64, 4 * n * sizeof(VAR)>>>(signals, responses, filtered, int(n));
}
