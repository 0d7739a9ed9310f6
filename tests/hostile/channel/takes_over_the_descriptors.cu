// Replaces every descriptor that it has by one that leads nowhere.
// threat: 2
// problem: vector-add
// or: time_limit
// verdict: runtime_error

#include <fcntl.h>
#include <unistd.h>

__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    add<<<unsigned((n + 255) / 256), 256>>>(x, y, z, n);
    cudaDeviceSynchronize();
    const int nowhere = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 1024; ++fd) {
        if (fd != nowhere) dup2(nowhere, fd);
    }
}
