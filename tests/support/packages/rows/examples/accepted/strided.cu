// verdict: accepted
__global__ void rows(const VAR *x, float s, VAR *y, VAR *sums, int n, int ldx, int ldy) {
  double sum = 0;
  for (int j = 0; j < n; ++j) {
    VAR v = (VAR)((double)y[blockIdx.x * ldy + j] + (double)s * (double)x[blockIdx.x * ldx + j]);
    y[blockIdx.x * ldy + j] = v;
    sum += (double)v;
  }
  sums[blockIdx.x] = (VAR)sum;
}

extern "C" void solution(const VAR *x, float s, VAR *y, VAR *sums, int m, int n, int ldx, int ldy) {
  rows<<<m, 1>>>(x, s, y, sums, n, ldx, ldy);
}
