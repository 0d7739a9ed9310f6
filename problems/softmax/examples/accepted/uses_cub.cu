// One block per row, with cub's reductions of a block; the kernel is called like a function of the
// maths library.
// verdict: accepted

#include <cub/block/block_reduce.cuh>

constexpr int THREADS = 128;

struct Larger {
    __device__ float operator()(float a, float b) const { return a > b ? a : b; }
};

__global__ void exp(const VAR* x, VAR* y, size_t n) {
    using BlockReduce = cub::BlockReduce<float, THREADS>;
    __shared__ typename BlockReduce::TempStorage storage;
    __shared__ float shared;
    x += blockIdx.x * n;
    y += blockIdx.x * n;

    float largest = -INFINITY;
    for (size_t j = threadIdx.x; j < n; j += THREADS) {
        largest = fmaxf(largest, static_cast<float>(x[j]));
    }
    largest = BlockReduce(storage).Reduce(largest, Larger());
    if (threadIdx.x == 0) shared = largest;
    __syncthreads();
    largest = shared;

    float sum = 0.0f;
    for (size_t j = threadIdx.x; j < n; j += THREADS) {
        sum += expf(static_cast<float>(x[j]) - largest);
    }
    sum = BlockReduce(storage).Sum(sum);
    if (threadIdx.x == 0) shared = sum;
    __syncthreads();
    for (size_t j = threadIdx.x; j < n; j += THREADS) {
        y[j] = static_cast<VAR>(expf(static_cast<float>(x[j]) - largest) / shared);
    }
}

extern "C" void solution(const VAR* input_matrix, VAR* output_matrix, size_t m, size_t n) {
    exp<<<unsigned(m), THREADS>>>(input_matrix, output_matrix, n);
}
