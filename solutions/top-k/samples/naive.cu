// One block per row. In each of k rounds all threads look for the largest element that comes after
// the one found last: the row is read k times.
//
// The order is that of the result: larger elements first, of equal ones those further left.
//
// VAR is the element type; the judge's build defines it as float, __half or __nv_bfloat16.

#include <cfloat>
#include <climits>

constexpr int THREADS = 256;

__device__ bool before(float a, int at_a, float b, int at_b) {
    return a > b || (a == b && at_a < at_b);
}

__global__ void top_k(const VAR* x, VAR* values, int* indices, size_t n, size_t k) {
    __shared__ float tops[THREADS];
    __shared__ int places[THREADS];
    x += blockIdx.x * n;
    const int t = threadIdx.x;

    float last = FLT_MAX;  // before every element
    int last_place = -1;
    for (size_t round = 0; round < k; ++round) {
        float top = -FLT_MAX;
        int place = INT_MAX;  // after every element
        for (size_t j = t; j < n; j += THREADS) {  // neighbours read neighbours
            const float value = static_cast<float>(x[j]);
            if (before(last, last_place, value, int(j)) && before(value, int(j), top, place)) {
                top = value;
                place = int(j);
            }
        }
        tops[t] = top;
        places[t] = place;
        for (int half = THREADS / 2; half > 0; half /= 2) {
            __syncthreads();  // what the last step wrote is there
            if (t < half && before(tops[t + half], places[t + half], tops[t], places[t])) {
                tops[t] = tops[t + half];
                places[t] = places[t + half];
            }
        }
        __syncthreads();
        last = tops[0];
        last_place = places[0];
        if (t == 0) {
            values[blockIdx.x * k + round] = x[last_place];
            indices[blockIdx.x * k + round] = last_place;
        }
        __syncthreads();  // all have read it before the next round overwrites it
    }
}

extern "C" void solution(const VAR* input_matrix, VAR* values, int* indices, size_t m, size_t n,
                         size_t k) {
    top_k<<<unsigned(m), THREADS>>>(input_matrix, values, indices, n, k);
}
