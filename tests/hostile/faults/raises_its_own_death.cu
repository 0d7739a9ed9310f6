// Sends itself one of the signals that a judge may take for its own doing.
// threat: signal
// problem: vector-add
// verdict: runtime_error

#include <signal.h>

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    raise(SIGKILL);
}
