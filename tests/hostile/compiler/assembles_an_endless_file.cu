// Has the assembler read the map of its own pages: 256 GiB of zeros without a line end.
// threat: compiler bomb
// problem: vector-add
// verdict: memory_limit; on cpu: not_executable_here (assembly)

__asm__(".include \"/proc/self/pagemap\"");

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
}
