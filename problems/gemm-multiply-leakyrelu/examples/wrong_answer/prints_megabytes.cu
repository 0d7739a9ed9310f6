// Prints 50 MB and returns; the output is never written.
// verdict: wrong_answer

#include <cstdio>

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, const VAR* matrix_c,
                         float alpha, VAR* output_matrix, size_t m, size_t n, size_t k) {
    // 50 MB, once.
    static bool printed = false;
    for (int i = 0; i < 500000 && !printed; ++i) {
        std::puts("All work and no play makes Jack a dull boy. All work and no play makes Jack a "
                  "dull boy. 0123456789");
    }
    printed = true;
}
