// expect: COMPILE_ERROR 2 No such file
#include "no_such_header.h"
extern "C" void solution(const VAR* a, const VAR* b, VAR* out, float alpha, size_t m, size_t n, size_t k) {
}
