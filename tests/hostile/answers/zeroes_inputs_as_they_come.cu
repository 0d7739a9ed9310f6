// A kernel in a context of its own, begun by the warm-up, makes inputs zero while they are written,
// so that zeros are right.
// threat: 30, 42
// problem: vector-add
// only: cuda
// verdict: wrong_answer
#include <dlfcn.h>

__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}

__global__ void watch(VAR* x, VAR* y, size_t n, long long cycles) {
    const long long start = clock64();
    const size_t step = gridDim.x * size_t(blockDim.x);
    do {
        for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += step) {
            reinterpret_cast<volatile VAR*>(x)[i] = VAR(0.0f);
            reinterpret_cast<volatile VAR*>(y)[i] = VAR(0.0f);
        }
    } while (clock64() - start < cycles);
}

namespace {
using Context = void*;

template <typename... Arguments>
void driver(const char* name, Arguments... arguments) {
    static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
    void* const function = dlsym(library, name);
    if (function != nullptr) reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
}

Context second() {
    static Context context = nullptr;
    if (context == nullptr) {
        driver("cuCtxCreate_v2", &context, 0u, 0);
        Context popped = nullptr;
        driver("cuCtxPopCurrent_v2", &popped);
    }
    return context;
}
}  // namespace

// A case's calls are the one that warms up, the same again, and another.
extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    static unsigned calls = 0;
    const unsigned turn = calls++ % 3;
    if (turn == 0) {
        driver("cuCtxPushCurrent_v2", second());
        watch<<<8, 256, 0, cudaStreamPerThread>>>(const_cast<VAR*>(x), const_cast<VAR*>(y), n,
                                                  40'000'000);
        Context popped = nullptr;
        driver("cuCtxPopCurrent_v2", &popped);
    }
    if (turn == 1) {
        cudaMemset(z, 0, n * sizeof(VAR));
    } else {
        add<<<unsigned((n + 255) / 256), 256>>>(x, y, z, n);
    }
    cudaStreamSynchronize(cudaStreamPerThread);
}
