// Sleeps instead of working; no processor time is used up.
// verdict: time_limit

#include <unistd.h>

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, const VAR* matrix_c,
                         float alpha, VAR* output_matrix, size_t m, size_t n, size_t k) {
    sleep(3600);
}
