// Doubles a line of text forty times by macros.
// threat: compiler bomb
// problem: vector-add
// or: memory_limit
// verdict: time_limit

#define A0(x) x x
#define A1(x) A0(A0(x))
#define A2(x) A1(A1(x))
#define A3(x) A2(A2(x))
#define A4(x) A3(A3(x))
#define A5(x) A4(A4(x))
int sum = 0 A5(+ 1);

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
}
