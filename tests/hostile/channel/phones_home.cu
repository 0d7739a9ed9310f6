// Reaches for the machine's own services over the network: right only if there is one.
// threat: 13
// problem: vector-add
// verdict: wrong_answer

#include <arpa/inet.h>
#include <sys/socket.h>

__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}

static bool connected() {
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(53);
    address.sin_addr.s_addr = inet_addr("127.0.0.1");
    return fd >= 0 && connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    static const bool possible = connected();
    if (possible) add<<<unsigned((n + 255) / 256), 256>>>(x, y, z, n);
}
