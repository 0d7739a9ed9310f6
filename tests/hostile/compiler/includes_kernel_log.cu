// Includes the log of the kernel, which is read as long as somebody waits for it.
// threat: compiler bomb
// problem: vector-add
// verdict: compile_error

#include "/proc/kmsg"

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
}
