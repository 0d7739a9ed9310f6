// Writes to a null pointer on the host.
// threat: segmentation fault
// problem: vector-add
// verdict: runtime_error

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    volatile VAR* volatile nothing = nullptr;
    *nothing = 0;
}
