// verdict: accepted
__global__ void rotate(const VAR *x, const VAR *y, VAR *z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  VAR a = x[i], b = y[i], c;
  c.x = a.x * b.x + a.y * b.y;
  c.y = a.x * b.y - a.y * b.x;
  z[i] = c;
}

extern "C" void solution(const VAR *x, const VAR *y, VAR *z, int n) {
  rotate<<<(n + 31) / 32, 32>>>(x, y, z, n);
}
