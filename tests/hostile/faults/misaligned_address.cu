// Its kernel reads four numbers at an address that is no multiple of their size.
// threat: misaligned address
// problem: vector-add
// verdict: runtime_error

__global__ void crooked(const VAR* x, VAR* z) {
    const char* const off = reinterpret_cast<const char*>(x) + 1;
    z[0] = reinterpret_cast<const VAR*>(off)[0];
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    crooked<<<1, 1>>>(x, z);
}
