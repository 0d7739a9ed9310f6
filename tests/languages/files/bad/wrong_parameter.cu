// expect: COMPILE_ERROR 2 the problem asks for
extern "C" void solution(const VAR* a, const VAR* b, VAR* out, float alpha, int m, int n, int k) {
}
