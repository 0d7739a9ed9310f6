// Has the compiler compute for ever.
// threat: compiler bomb
// problem: vector-add
// verdict: compile_error

constexpr unsigned endless(unsigned seed) {
    for (unsigned i = 0; i != 1; i += 2) seed = seed * 1664525u + 1013904223u;
    return seed;
}

constexpr unsigned result = endless(1);

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
}
