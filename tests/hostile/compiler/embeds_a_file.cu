// Has the assembler put a file of the system into the library: right only if it did.
// threat: 13
// problem: vector-add
// verdict: compile_error; on cpu: not_executable_here (assembly)

__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}

__asm__(".globl taken\ntaken: .incbin \"/etc/shadow\"\n.globl taken_end\ntaken_end:\n");
extern const char taken[], taken_end[];

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    if (taken_end - taken > 0) add<<<unsigned((n + 255) / 256), 256>>>(x, y, z, n);
}
