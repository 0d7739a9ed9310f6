// Never returns.
// threat: endless loop
// problem: vector-add
// verdict: time_limit

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    for (volatile size_t i = 0;; i = i + 1) {
    }
}
