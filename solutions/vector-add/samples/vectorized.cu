// Sixteen bytes per load: a thread has more data on the way, with fewer instructions.
//
// Such loads need addresses that are multiples of 16. The vectors may start anywhere, but where all
// three are off by the same number of elements, they meet such an address together: the elements
// before it, the head, are added one by one, as is what is left over at the end. Where they disagree,
// no start suits all three, and everything is done one by one.

#include <cstdint>

constexpr unsigned THREADS = 256;
constexpr size_t WIDTH = 16 / sizeof(VAR);

struct alignas(16) Pack {
    VAR element[WIDTH];
};

// Packs start at element `head`; `packs` is how many there are.
__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n, size_t head, size_t packs) {
    const size_t i = blockIdx.x * size_t(THREADS) + threadIdx.x;
    if (i < packs) {
        const Pack a = reinterpret_cast<const Pack*>(x + head)[i];
        const Pack b = reinterpret_cast<const Pack*>(y + head)[i];
        Pack c;
#pragma unroll
        for (size_t e = 0; e < WIDTH; ++e) c.element[e] = a.element[e] + b.element[e];
        reinterpret_cast<Pack*>(z + head)[i] = c;
        return;
    }
    // The threads that have no pack take one element each: first the head, then the rest.
    size_t single = i - packs;
    if (single >= head) single += packs * WIDTH;
    if (single < n) z[single] = x[single] + y[single];
}

static size_t misaligned_by(const void* address) {
    return reinterpret_cast<uintptr_t>(address) % sizeof(Pack);
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t off = misaligned_by(z);
    size_t head = 0, packs = 0;
    if (misaligned_by(x) == off && misaligned_by(y) == off) {
        head = (sizeof(Pack) - off) % sizeof(Pack) / sizeof(VAR);
        if (head < n) packs = (n - head) / WIDTH;
        if (packs == 0) head = 0;
    }
    const size_t threads = packs + (n - packs * WIDTH);
    add<<<unsigned((threads + THREADS - 1) / THREADS), THREADS>>>(x, y, z, n, head, packs);
}
