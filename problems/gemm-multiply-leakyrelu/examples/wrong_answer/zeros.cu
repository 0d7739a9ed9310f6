// Fills the output with zeros.
// verdict: wrong_answer

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, const VAR* matrix_c,
                         float alpha, VAR* output_matrix, size_t m, size_t n, size_t k) {
    cudaMemsetAsync(output_matrix, 0, m * n * sizeof(VAR), 0);
}
