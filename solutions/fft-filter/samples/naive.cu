// The plainest right answer: both transforms as their definition says, n terms for each number.
//
// That takes n * n steps per row instead of n * log(n), and works for every length. One thread
// computes one number of the spectrum, then (a second launch) one number of the result.
//
// VAR is cuFloatComplex or cuDoubleComplex, a struct of two Reals.

using Real = decltype(VAR::x);

// exp(sign * 2 pi i * turn / n), for turn < n. The argument of cospi is exact to the last digit
// because j * k was reduced modulo n in whole numbers: a float has no room for 2 pi * j * k.
__device__ VAR root(size_t turn, size_t n, Real sign) {
    const Real angle = Real(2) * Real(turn) / Real(n);
    return {cospi(angle), sign * sinpi(angle)};
}

__device__ VAR product(VAR a, VAR b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }

__device__ VAR sum_of_row(const VAR* row, size_t n, size_t k, Real sign) {
    VAR sum = {0, 0};
    size_t turn = 0;  // j * k modulo n
    for (size_t j = 0; j < n; ++j) {
        const VAR term = product(row[j], root(turn, n, sign));
        sum.x += term.x;
        sum.y += term.y;
        turn += k;
        if (turn >= n) turn -= n;
    }
    return sum;
}

__global__ void filter(const VAR* signals, const VAR* responses, VAR* spectrum, size_t n,
                       size_t count) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i >= count) return;
    const size_t row = i / n * n;
    spectrum[i] = product(sum_of_row(signals + row, n, i - row, -1), responses[i]);
}

__global__ void transform_back(const VAR* spectrum, VAR* filtered, size_t n, size_t count) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i >= count) return;
    const size_t row = i / n * n;
    const VAR sum = sum_of_row(spectrum + row, n, i - row, 1);
    filtered[i] = {sum.x / Real(n), sum.y / Real(n)};
}

extern "C" void solution(const VAR* signals, const VAR* responses, VAR* filtered, size_t batch,
                         size_t n) {
    static VAR* spectrum = nullptr;  // kept from call to call, and grown when it is too small
    static size_t capacity = 0;
    const size_t count = batch * n;
    if (count > capacity) {
        cudaFree(spectrum);
        cudaMalloc(reinterpret_cast<void**>(&spectrum), count * sizeof(VAR));
        capacity = count;
    }
    const unsigned blocks = unsigned((count + 255) / 256);
    filter<<<blocks, 256>>>(signals, responses, spectrum, n, count);
    transform_back<<<blocks, 256>>>(spectrum, filtered, n, count);
}
