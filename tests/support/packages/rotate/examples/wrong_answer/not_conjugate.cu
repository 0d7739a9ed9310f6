// verdict: wrong_answer
// says: elements of z are wrong
// dtypes: complex128
__global__ void rotate(const VAR *x, const VAR *y, VAR *z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = cuCmul(x[i], y[i]);
}

extern "C" void solution(const VAR *x, const VAR *y, VAR *z, int n) {
  rotate<<<(n + 31) / 32, 32>>>(x, y, z, n);
}
