// Makes the compiler instantiate templates without end.
// threat: compiler bomb
// problem: vector-add
// verdict: compile_error

template <int N>
struct Deep {
    static constexpr int value = Deep<N + 1>::value + 1;
};

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    z[0] = Deep<0>::value;
}
