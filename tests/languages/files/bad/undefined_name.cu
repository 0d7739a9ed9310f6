// expect: COMPILE_ERROR 4 undefined
__global__ void fill(VAR* out, size_t n) {
  size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = nothing;
}
extern "C" void solution(const VAR* a, const VAR* b, VAR* out, float alpha, size_t m, size_t n, size_t k) {
  fill<<<(m * n + 255) / 256, 256>>>(out, m * n);
}
