// Its kernel never ends.
// threat: endless loop
// problem: vector-add
// verdict: time_limit

__global__ void endless(volatile VAR* z) {
    while (z[0] == z[0] || z[0] != z[0]) {
    }
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    endless<<<1, 1>>>(z);
}
