// Resets the device, and with it whatever errors it knew of.
// threat: 12
// problem: vector-add
// verdict: runtime_error; on cpu: wrong_answer (there is nothing to reset)

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    cudaDeviceReset();
}
