// expect: INVALID_SUBMISSION 0 the problem asks for
extern "C" void solutoin(const VAR* a, const VAR* b, VAR* out, float alpha, size_t m, size_t n, size_t k) {
}
