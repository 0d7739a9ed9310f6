// expect: INVALID_SUBMISSION 0 the problem asks for
void solution(const VAR* a, VAR* out) {
}
