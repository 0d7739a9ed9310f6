// verdict: accepted
__global__ void select(const bool *mask, const VAR *x, VAR *total, bool *odd, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  VAR sum = mask[i] ? total[i] + x[i] : total[i];
  total[i] = sum;
  odd[i] = sum & 1;
}

extern "C" void solution(const bool *mask, const VAR *x, VAR *total, bool *odd, int n) {
  select<<<(n + 63) / 64, 64>>>(mask, x, total, odd, n);
}
