// Fills shared memory and lets go of its pages, which the kernel keeps all the same.
// threat: memory bomb
// problem: vector-add
// verdict: memory_limit

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    for (int i = 0; i < 26; i++) {
        const size_t size = 50 << 20;
        void* const kept = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        memset(kept, 1, size);
        madvise(kept, size, MADV_DONTNEED);
        munmap((char*)kept + 4096, size - 4096);
    }
    sleep(60);
}
