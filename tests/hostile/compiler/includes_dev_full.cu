// Includes a full device, which is an endless file when it is read.
// threat: compiler bomb
// problem: vector-add
// verdict: compile_error

#include <//dev/../dev/full>

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
}
