// An endless loop on the host.
// verdict: time_limit

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, const VAR* matrix_c,
                         float alpha, VAR* output_matrix, size_t m, size_t n, size_t k) {
    for (volatile size_t i = 0;; i = i + 1) {
    }
}
