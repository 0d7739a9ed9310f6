// Makes the compiler instantiate exponentially many templates.
// threat: compiler bomb
// problem: vector-add
// or: memory_limit
// verdict: time_limit

template <int N, int M>
struct Wide {
    static constexpr int value = Wide<N - 1, M * 2>::value + Wide<N - 1, M * 2 + 1>::value;
};

template <int M>
struct Wide<0, M> {
    static constexpr int value = M & 1;
};

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    z[0] = Wide<26, 1>::value;
}
