// Throws a C++ exception out of the entry point.
// verdict: runtime_error

#include <stdexcept>

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, const VAR* matrix_c,
                         float alpha, VAR* output_matrix, size_t m, size_t n, size_t k) {
    throw std::runtime_error("no luck");
}
