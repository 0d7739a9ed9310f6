// Takes new memory of the card, which may be what a reference has just left, as the answer.
// threat: 12, 37
// problem: vector-add
// verdict: wrong_answer

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    VAR* leftover = nullptr;
    cudaMalloc(reinterpret_cast<void**>(&leftover), n * sizeof(VAR));
    cudaMemcpy(z, leftover, n * sizeof(VAR), cudaMemcpyDeviceToDevice);
    cudaFree(leftover);
}
