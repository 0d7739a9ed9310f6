// Calls itself until its stack is full.
// threat: stack overflow
// problem: vector-add
// verdict: runtime_error

static size_t deeper(volatile char* above) {
    volatile char room[4096];
    room[0] = above[0];
    return deeper(room) + room[0];
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    volatile char first = 1;
    if (deeper(&first) == 0) cudaDeviceSynchronize();
}
