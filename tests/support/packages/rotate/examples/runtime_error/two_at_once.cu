// verdict: runtime_error
// says: misaligned address
// dtypes: complex64
// The result is promised to be aligned to one complex number, not to two.
__global__ void rotate(const VAR *x, const VAR *y, VAR *z, int n) {
  for (int i = 0; i < n; i += 2) {
    VAR a = cuCmulf(cuConjf(x[i]), y[i]);
    if (i + 1 < n) {
      VAR b = cuCmulf(cuConjf(x[i + 1]), y[i + 1]);
      *reinterpret_cast<float4 *>(z + i) = make_float4(a.x, a.y, b.x, b.y);
    } else {
      z[i] = a;
    }
  }
}

extern "C" void solution(const VAR *x, const VAR *y, VAR *z, int n) { rotate<<<1, 1>>>(x, y, z, n); }
