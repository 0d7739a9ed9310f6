// Closes every descriptor.
// threat: 2
// problem: vector-add
// or: time_limit
// verdict: runtime_error

#include <unistd.h>

__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    add<<<unsigned((n + 255) / 256), 256>>>(x, y, z, n);
    cudaDeviceSynchronize();
    for (int fd = 3; fd < 1024; ++fd) close(fd);
}
