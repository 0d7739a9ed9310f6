// A thread queues copies to the card in a second context, far enough ahead that they go on while
// the process stands still and the baseline runs.
// threat: 53, 57
// problem: vector-add
// no faster than: honest/plain.cu
// or: rejected
// verdict: accepted
#include <dlfcn.h>

#include <thread>

constexpr size_t BYTES = 64 << 20;
constexpr int AHEAD = 32;  // about 40 ms

__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
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

void copy_for_ever() {
    driver("cuCtxPushCurrent_v2", second());
    void *here = nullptr, *there = nullptr;
    cudaMallocHost(&here, BYTES);
    cudaMalloc(&there, BYTES);
    cudaEvent_t queued[AHEAD];
    for (cudaEvent_t& each : queued) cudaEventCreateWithFlags(&each, cudaEventDisableTiming);
    for (unsigned copy = 0;; ++copy) {
        cudaEventSynchronize(queued[copy % AHEAD]);
        cudaMemcpyAsync(there, here, BYTES, cudaMemcpyHostToDevice, cudaStreamPerThread);
        cudaEventRecord(queued[copy % AHEAD], cudaStreamPerThread);
    }
}
}  // namespace

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    static bool begun = false;
    if (!begun && n >= 1 << 24) {
        begun = true;
        std::thread(copy_for_ever).detach();
    }
    add<<<unsigned((n + 255) / 256), 256>>>(x, y, z, n);
}
