// Takes memory of the card as long as it gets some, and then goes on without.
// threat: memory bomb
// problem: vector-add
// timed: yes
// verdict: memory_limit (the last refusal is reported)

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    void* taken = nullptr;
    while (cudaMalloc(&taken, size_t(1) << 30) == cudaSuccess) {
    }
}
