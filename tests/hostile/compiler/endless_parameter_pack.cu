// Has the compiler make a list of a hundred million template arguments.
// threat: compiler bomb
// problem: vector-add
// or: memory_limit
// verdict: time_limit

template <int...> struct List {};
template <class A, class B> struct Join;
template <int... a, int... b> struct Join<List<a...>, List<b...>> { using type = List<a..., b...>; };
template <int N> struct Make {
    using type = typename Join<typename Make<N / 2>::type, typename Make<N - N / 2>::type>::type;
};
template <> struct Make<1> { using type = List<1>; };
template struct Make<100000000>;

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
}
