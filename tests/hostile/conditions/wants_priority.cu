// Asks for more of the processor than others have.
// threat: 53, 57
// problem: vector-add
// verdict: accepted (it is refused)

#include <sched.h>
#include <sys/resource.h>

__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    sched_param most = {99};
    sched_setscheduler(0, SCHED_FIFO, &most);
    setpriority(PRIO_PROCESS, 0, -20);
    add<<<unsigned((n + 255) / 256), 256>>>(x, y, z, n);
}
