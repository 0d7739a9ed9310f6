// One block per row: every thread reduces a part of it, and a tree puts the parts together.
//
// Fine for many rows. A single long row keeps one of the card's 132 multiprocessors busy, and leaves
// the others idle: see several_blocks.cu.
//
// VAR is the element type; the judge's build defines it as float, __half or __nv_bfloat16.

#include <cfloat>
#include <climits>

constexpr int THREADS = 256;

__global__ void reduce(const VAR* x, float scale, float* row_mean, int* largest, size_t n) {
    __shared__ float sums[THREADS];
    __shared__ float tops[THREADS];
    __shared__ int indices[THREADS];
    x += blockIdx.x * n;
    const int t = threadIdx.x;

    float sum = 0.0f;  // float32 whatever VAR is: a long sum in half would lose digits
    float top = -FLT_MAX;  // not 0: all of a row may be negative
    int index = INT_MAX;
    for (size_t j = t; j < n; j += THREADS) {  // neighbours read neighbours
        const float value = static_cast<float>(x[j]);
        sum += value;
        if (value > top || index == INT_MAX) {  // not >=: of equal elements the first counts
            top = value;
            index = int(j);
        }
    }
    sums[t] = sum;
    tops[t] = top;
    indices[t] = index;

    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();  // what the last step wrote is there
        if (t < half) {
            sums[t] += sums[t + half];
            // Threads hold elements in turns, so the one further right may be the earlier one.
            if (tops[t + half] > tops[t] ||
                (tops[t + half] == tops[t] && indices[t + half] < indices[t])) {
                tops[t] = tops[t + half];
                indices[t] = indices[t + half];
            }
        }
    }
    if (t == 0) {
        row_mean[blockIdx.x] = sums[0] * scale;
        largest[blockIdx.x] = indices[0];
    }
}

extern "C" void solution(const VAR* input_matrix, float scale, float* row_mean, int* largest,
                         size_t m, size_t n) {
    reduce<<<unsigned(m), THREADS>>>(input_matrix, scale, row_mean, largest, n);
}
