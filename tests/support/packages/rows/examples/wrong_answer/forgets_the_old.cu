// verdict: wrong_answer
// says: elements of y are wrong
// dtypes: float32, float64
__global__ void rows(const VAR *x, float s, VAR *y, VAR *sums, int n, int ldx, int ldy) {
  VAR sum = 0;
  for (int j = 0; j < n; ++j) {
    sum += y[blockIdx.x * ldy + j] = s * x[blockIdx.x * ldx + j];
  }
  sums[blockIdx.x] = sum;
}

extern "C" void solution(const VAR *x, float s, VAR *y, VAR *sums, int m, int n, int ldx, int ldy) {
  rows<<<m, 1>>>(x, s, y, sums, n, ldx, ldy);
}
