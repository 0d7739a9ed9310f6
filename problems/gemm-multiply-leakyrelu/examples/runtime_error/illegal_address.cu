// The kernel writes through a null pointer.
// verdict: runtime_error

__global__ void kernel(VAR* o) { o[threadIdx.x] = static_cast<VAR>(1.0f); }

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, const VAR* matrix_c,
                         float alpha, VAR* output_matrix, size_t m, size_t n, size_t k) {
    kernel<<<1, 32>>>(nullptr);
}
