// Reads pages of zeros all over its address space: the tables of pages take memory, they do not.
// threat: memory bomb
// problem: vector-add
// verdict: memory_limit

#include <sys/mman.h>
#include <unistd.h>

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t size = (size_t)1 << 40, step = 2 << 20;
    const char* const zeros =
        (const char*)mmap(0, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int sum = 0;
    for (size_t i = 0; i < size; i += step) sum += zeros[i];
    sleep(60 + sum);
}
