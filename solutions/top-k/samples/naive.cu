// One block per row. In each of k rounds all threads look for the largest element that comes after
// the one found last: the row is read k times. See radix_select.cu.
//
// An element and its index are one key of 64 bits. Keys are in the order of the result: larger
// elements first, of equal ones those further left. No two are equal.
//
// VAR is the element type; the judge's build defines it as float, __half or __nv_bfloat16.

constexpr int THREADS = 256;
constexpr int MAX_K = 1024;

using Key = unsigned long long;

__device__ Key key_of(float value, size_t index) {
    unsigned bits = __float_as_uint(value);
    bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;  // unsigned integers in float order
    return static_cast<Key>(bits) << 32 | (0xffffffffu - unsigned(index));
}

__global__ void top_k(const VAR* x, VAR* values, int* indices, size_t n, size_t k) {
    __shared__ Key found[MAX_K];
    x += blockIdx.x * n;
    for (size_t i = threadIdx.x; i < k; i += THREADS) found[i] = 0;  // less than any element's
    __syncthreads();

    Key last = ~Key(0);
    for (size_t round = 0; round < k; ++round) {
        Key mine = 0;
        for (size_t j = threadIdx.x; j < n; j += THREADS) {  // neighbours read neighbours
            const Key key = key_of(static_cast<float>(x[j]), j);
            if (key < last && key > mine) mine = key;
        }
        atomicMax(&found[round], mine);
        __syncthreads();  // all threads have told what they found
        last = found[round];
    }
    for (size_t i = threadIdx.x; i < k; i += THREADS) {
        const unsigned index = 0xffffffffu - unsigned(found[i]);
        values[blockIdx.x * k + i] = x[index];
        indices[blockIdx.x * k + i] = int(index);
    }
}

extern "C" void solution(const VAR* input_matrix, VAR* values, int* indices, size_t m, size_t n,
                         size_t k) {
    top_k<<<unsigned(m), THREADS>>>(input_matrix, values, indices, n, k);
}
