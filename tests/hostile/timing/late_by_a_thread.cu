// A thread launches the last calls of a batch a moment after all others have ended, and with them
// the batch: not after 30 ms, when everything stands still.
// threat: 31, 33
// problem: gemm-multiply-leakyrelu
// no faster than: timing/honest.cu
// or: rejected, accepted
// verdict: wrong_answer
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

constexpr unsigned LATE = 8;

__global__ void compute(const VAR* a, const VAR* b, const VAR* c, float alpha, VAR* o, size_t m,
                        size_t n, size_t k) {
    const size_t column = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t row = blockIdx.y * size_t(blockDim.y) + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (size_t i = 0; i < k; ++i) {
        sum += static_cast<float>(a[row * k + i]) * static_cast<float>(b[i * n + column]);
    }
    const float product = sum * static_cast<float>(c[row * n + column]);
    o[row * n + column] = static_cast<VAR>(product >= 0.0f ? product : alpha * product);
}

namespace {
struct Place {
    unsigned number;  // of the call in its batch
    unsigned calls;   // in the batch; 0 while that is not known
};

// The first call of a batch is the one that has just warmed up, and comes again when all are done.
Place place_of(const void* output) {
    static const void *first = nullptr, *before = nullptr;
    static Place place = {0, 0};
    if (output == before) {
        first = output;
        place = {0, 0};
    } else if (output == first) {
        place = {0, place.number + 1};
    } else {
        ++place.number;
    }
    before = output;
    return place;
}

std::vector<std::function<void()>> noted;  // the late calls, while they are collected
std::atomic<bool> handed{false};

void follow(cudaEvent_t earlier) {
    while (true) {
        while (!handed) {
        }
        cudaEventSynchronize(earlier);
        const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
        while (std::chrono::steady_clock::now() < end) {
        }
        for (const auto& launch : noted) launch();
        noted.clear();
        handed = false;
    }
}
}  // namespace

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, const VAR* matrix_c,
                         float alpha, VAR* output_matrix, size_t m, size_t n, size_t k) {
    const dim3 block(32, 8);
    const dim3 grid(unsigned((n + 31) / 32), unsigned((m + 7) / 8));
    cudaStreamCaptureStatus status;
    cudaStreamIsCapturing(cudaStreamPerThread, &status);
    if (status == cudaStreamCaptureStatusActive) {
        cudaStreamSynchronize(cudaStreamPerThread);  // forbids recording
        return;
    }
    const Place place = place_of(output_matrix);
    if (k < 1024 || place.calls == 0 || place.number + LATE < place.calls) {
        compute<<<grid, block>>>(matrix_a, matrix_b, matrix_c, alpha, output_matrix, m, n, k);
        return;
    }
    static cudaEvent_t earlier = nullptr;
    if (earlier == nullptr) {
        cudaEventCreateWithFlags(&earlier, cudaEventDisableTiming);
        std::thread(follow, earlier).detach();
    }
    if (place.number + LATE == place.calls) {
        while (handed) {
        }
        cudaEventRecord(earlier, cudaStreamPerThread);
    }
    noted.push_back([=] {
        compute<<<grid, block, 0, cudaStreamPerThread>>>(matrix_a, matrix_b, matrix_c, alpha,
                                                         output_matrix, m, n, k);
    });
    if (place.number + 1 == place.calls) handed = true;
}
