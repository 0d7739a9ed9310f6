// Is wrong, and prints a gigabyte where errors are told.
// threat: floods
// problem: vector-add
// verdict: wrong_answer

#include <string.h>
#include <unistd.h>

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    static char text[1 << 16];
    static int printed = 0;
    memset(text, 'x', sizeof text);
    for (; printed < (1 << 14); ++printed) {
        if (write(2, text, sizeof text) < 0) return;
    }
}
