// verdict: accepted
__global__ void add(const int *x, const VAR *w, int *counts, VAR *weights, unsigned char *last,
                    int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(&counts[x[i]], 1);
  atomicAdd(&weights[3 * x[i]], w[i]);
  atomicAdd(&weights[3 * x[i] + 1], 2 * w[i]);
  last[i] = x[i] & 3;
}

extern "C" void solution(const int *x, const VAR *w, int *counts, VAR *weights,
                         unsigned char *last, int n, int bins) {
  add<<<(n + 63) / 64, 64>>>(x, w, counts, weights, last, n);
}
