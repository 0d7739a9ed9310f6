// Throws an exception that nobody catches.
// threat: exception
// problem: vector-add
// verdict: runtime_error

#include <stdexcept>

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    throw std::runtime_error("nobody catches this");
}
