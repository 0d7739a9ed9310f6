// Only tails overlap: a call begins when the last sixteenth of the sums of the one before is left,
// which saves as little of its time.
// threat: 28, 30
// problem: gemm-multiply-leakyrelu
// no faster than: timing/honest.cu
// verdict: rejected

// The first part of the sums, left in a workspace.
__global__ void begin(const VAR* a, const VAR* b, float* sums, size_t m, size_t n, size_t k,
                      size_t end) {
    const size_t column = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t row = blockIdx.y * size_t(blockDim.y) + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (size_t i = 0; i < end; ++i) {
        sum += static_cast<float>(a[row * k + i]) * static_cast<float>(b[i * n + column]);
    }
    sums[row * n + column] = sum;
}

// The rest of the sums, and what follows.
__global__ void finish(const VAR* a, const VAR* b, const VAR* c, float alpha, const float* sums,
                       VAR* o, size_t m, size_t n, size_t k, size_t start) {
    const size_t column = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t row = blockIdx.y * size_t(blockDim.y) + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = sums[row * n + column];
    for (size_t i = start; i < k; ++i) {
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
}  // namespace

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, const VAR* matrix_c,
                         float alpha, VAR* output_matrix, size_t m, size_t n, size_t k) {
    const dim3 block(32, 8);
    const dim3 grid(unsigned((n + 31) / 32), unsigned((m + 7) / 8));
    cudaStreamCaptureStatus status;
    cudaStreamIsCapturing(cudaStreamPerThread, &status);
    static cudaStream_t heads = nullptr, tails = nullptr;
    static cudaEvent_t begun, head_done, tail_done[2];
    static float* sums[2] = {};
    static size_t room = 0;
    const size_t end = k - k / 16;
    if (status != cudaStreamCaptureStatusActive) {
        if (heads == nullptr) {
            cudaStreamCreateWithFlags(&heads, cudaStreamNonBlocking);
            cudaStreamCreateWithFlags(&tails, cudaStreamNonBlocking);
            for (cudaEvent_t* event : {&begun, &head_done, &tail_done[0], &tail_done[1]}) {
                cudaEventCreateWithFlags(event, cudaEventDisableTiming);
            }
        }
        if (m * n > room) {
            room = m * n;
            for (float*& each : sums) cudaMalloc(reinterpret_cast<void**>(&each), 4 * room);
        }
        place_of(output_matrix);
        begin<<<grid, block>>>(matrix_a, matrix_b, sums[0], m, n, k, end);
        finish<<<grid, block>>>(matrix_a, matrix_b, matrix_c, alpha, sums[0], output_matrix, m, n,
                                k, end);
        return;
    }
    const unsigned number = place_of(output_matrix).number, which = number % 2;
    if (number == 0) {
        cudaEventRecord(begun, cudaStreamPerThread);
        cudaStreamWaitEvent(heads, begun);
    }
    if (number >= 2) cudaStreamWaitEvent(heads, tail_done[which]);  // which had the same workspace
    begin<<<grid, block, 0, heads>>>(matrix_a, matrix_b, sums[which], m, n, k, end);
    cudaEventRecord(head_done, heads);
    cudaStreamWaitEvent(tails, head_done);
    finish<<<grid, block, 0, tails>>>(matrix_a, matrix_b, matrix_c, alpha, sums[which],
                                      output_matrix, m, n, k, end);
    cudaEventRecord(tail_done[which], tails);
    cudaStreamWaitEvent(cudaStreamPerThread, tail_done[which]);
}
