// A tiled product: shared memory, and no extern "C" (the declaration in front of it gives that).
#define T 16
__global__ void product(const VAR* a, const VAR* b, VAR* out, size_t m, size_t n, size_t k) {
  __shared__ float as[T][T], bs[T][T];
  size_t row = blockIdx.y * T + threadIdx.y, column = blockIdx.x * T + threadIdx.x;
  float sum = 0;
  for (size_t t = 0; t < k; t += T) {
    as[threadIdx.y][threadIdx.x] = row < m && t + threadIdx.x < k ? (float)a[row * k + t + threadIdx.x] : 0.0f;
    bs[threadIdx.y][threadIdx.x] = column < n && t + threadIdx.y < k ? (float)b[(t + threadIdx.y) * n + column] : 0.0f;
    __syncthreads();
    for (int i = 0; i < T; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) out[row * n + column] = (VAR)sum;
}
void solution(const VAR* a, const VAR* b, VAR* out, float alpha, size_t m, size_t n, size_t k) {
  dim3 block(T, T), grid((n + T - 1) / T, (m + T - 1) / T);
  product<<<grid, block>>>(a, b, out, m, n, k);
}
