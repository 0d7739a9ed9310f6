// verdict: runtime_error
// says: misaligned address
// dtypes: float32
// Takes two numbers at once, where only single ones are promised to be aligned.
__global__ void rows(const VAR *x, float s, VAR *y, VAR *sums, int n, int ldx, int ldy) {
  y += blockIdx.x * ldy;
  x += blockIdx.x * ldx;
  float sum = 0;
  for (int j = 0; j < n; ++j) {
    if (j + 1 < n) {
      float2 pair = *reinterpret_cast<const float2 *>(x + j);
      sum += y[j] = y[j] + s * pair.x;
      ++j;
      sum += y[j] = y[j] + s * pair.y;
    } else {
      sum += y[j] = y[j] + s * x[j];
    }
  }
  sums[blockIdx.x] = sum;
}

extern "C" void solution(const VAR *x, float s, VAR *y, VAR *sums, int m, int n, int ldx, int ldy) {
  rows<<<m, 1>>>(x, s, y, sums, n, ldx, ldy);
}
