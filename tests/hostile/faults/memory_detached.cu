// Leaves memory in segments and queues that belong to no process, and stops if it may not.
// threat: memory bomb
// problem: vector-add
// verdict: runtime_error

#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/shm.h>
#include <unistd.h>

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t size = 100 << 20;
    bool made = false;
    for (int i = 0; i < 13; i++) {
        const int segment = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
        void* const place = segment < 0 ? (void*)-1 : shmat(segment, nullptr, 0);
        if (place != (void*)-1) {
            memset(place, 1, size);
            shmdt(place);
            made = true;
        }
        made = msgget(IPC_PRIVATE, IPC_CREAT | 0600) >= 0 || made;
    }
    if (!made) abort();
    sleep(60);
}
