// A destructor of a static object waits for a lock that its thread holds.
// threat: hangs at exit
// problem: vector-add
// verdict: time_limit

#include <pthread.h>
#include <stdlib.h>

struct Deadlock {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    ~Deadlock() {
        pthread_mutex_lock(&mutex);
        pthread_mutex_lock(&mutex);
    }
};

static Deadlock deadlock;

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    exit(0);
}
