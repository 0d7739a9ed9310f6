// Writes zeros.
// threat: 43
// problem: vector-add
// verdict: wrong_answer

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    cudaMemset(z, 0, n * sizeof(VAR));
}
