// A thread of its own writes the answers some time after the call.
// threat: 31, 33
// problem: vector-add
// verdict: wrong_answer

#include <chrono>
#include <thread>

__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    std::thread([=] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        add<<<unsigned((n + 255) / 256), 256>>>(x, y, z, n);
    }).detach();
}
