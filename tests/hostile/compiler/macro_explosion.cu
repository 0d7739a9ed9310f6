// Makes a gigabyte of tokens from a few macros.
// threat: compiler bomb
// problem: vector-add
// or: memory_limit
// verdict: time_limit

#define A(x) x x x x x x x x x x x x x x x x
#define B(x) A(A(A(x)))
#define C(x) B(B(B(x)))

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    int i = 0;
    C(i += 1;)
}
