// Includes a file of noise that never ends.
// threat: compiler bomb
// problem: vector-add
// verdict: compile_error

#include "/dev/urandom"

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
}
