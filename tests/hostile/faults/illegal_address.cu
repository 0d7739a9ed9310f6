// Its kernel writes far from anything that is its own.
// threat: illegal address
// problem: vector-add
// verdict: runtime_error

__global__ void stray(VAR* z) { z[size_t(1) << 40] = 1; }

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    stray<<<1, 1>>>(z);
}
