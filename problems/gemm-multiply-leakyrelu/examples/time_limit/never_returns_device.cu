// An endless loop in the kernel.
// verdict: time_limit

__global__ void kernel(VAR* o) {
    while (true) {
        o[0] = static_cast<VAR>(1.0f);
        __threadfence();
    }
}

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, const VAR* matrix_c,
                         float alpha, VAR* output_matrix, size_t m, size_t n, size_t k) {
    kernel<<<1, 1>>>(output_matrix);
}
