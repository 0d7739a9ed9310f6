// The entry point has other parameters than the problem.
// verdict: compile_error

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, VAR* output_matrix, size_t m) {}
