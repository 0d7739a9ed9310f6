// Copies, and takes as long as it is told by the device's own clock of time, whatever its rate.
__device__ unsigned long long nanoseconds() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

__global__ void wait_for(const VAR* x, VAR* y, size_t n) {
    const unsigned long long start = nanoseconds();
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) y[i] = x[i];
    while (blockIdx.x == 0 && nanoseconds() - start < NANOSECONDS) {
    }
}

extern "C" void solution(const VAR* x, VAR* y, size_t n) {
    wait_for<<<unsigned((n + 255) / 256), 256>>>(x, y, n);
}
