// Honest: thousands of template instances and statements by macros, as unrolled kernels have them.
// threat: compiler bomb
// problem: vector-add
// verdict: accepted

#define FOUR(...) __VA_ARGS__ __VA_ARGS__ __VA_ARGS__ __VA_ARGS__
#define THOUSAND(...) FOUR(FOUR(FOUR(FOUR(FOUR(__VA_ARGS__)))))

template <int N>
struct Sum {
    static constexpr int value = Sum<N - 1>::value + 1;
};
template <>
struct Sum<0> {
    static constexpr int value = 0;
};

__device__ __constant__ int steps[1024] = {THOUSAND(1,)};

template <int Repeat>
__device__ VAR added(VAR a, VAR b) {
    if constexpr (Repeat > 0)
        return added<Repeat - 1>(a, b);
    else
        return a + b;
}

__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    int ones = 0;
    FOUR(FOUR(FOUR(ones += steps[i % 1024];)))
    z[i] = ones == 64 ? added<200>(x[i], y[i]) : VAR(0);
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    static_assert(Sum<800>::value == 800);
    if (n > 0) add<<<unsigned((n + 255) / 256), 256>>>(x, y, z, n);
}
