// Tells the compiler that its lines come from a secret file, which it then quotes.
// threat: 13
// problem: vector-add
// never shows: :/root:
// verdict: compile_error

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
}

#line 1 "/etc/shadow"
here it goes wrong
