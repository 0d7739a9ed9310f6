// Has the assembler repeat a line a thousand million times.
// threat: compiler bomb
// problem: vector-add
// verdict: memory_limit; on cpu: not_executable_here (assembly)

__asm__(".rept 1000000000\n.quad 1\n.endr");

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
}
