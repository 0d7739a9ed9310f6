// Includes itself without end.
// threat: compiler bomb
// problem: vector-add
// verdict: compile_error

#include __FILE__

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
}
