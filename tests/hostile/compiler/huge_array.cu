// Has the compiler write an array of many gigabytes into its file.
// threat: compiler bomb
// problem: vector-add
// verdict: compile_error

extern const int huge[1ull << 33] = {1, 2, 3};

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
}
