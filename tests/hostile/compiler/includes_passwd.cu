// Has a file of the system quoted in the compiler's messages.
// threat: 13
// problem: vector-add
// never shows: :/root:
// verdict: compile_error

#include "/etc/passwd"

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
}
