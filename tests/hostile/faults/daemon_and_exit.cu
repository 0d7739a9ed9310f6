// Leaves a process in a session of its own behind and ends.
// threat: daemon
// problem: vector-add
// verdict: runtime_error

#include <sys/prctl.h>
#include <unistd.h>

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    if (fork() == 0) {
        setsid();
        if (fork() != 0) _exit(0);
        prctl(PR_SET_NAME, "hostile-daemon", 0, 0, 0);
        for (;;) pause();
    }
    _exit(0);
}
