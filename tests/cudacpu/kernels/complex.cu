// Every function of cuComplex.h on pairs of numbers: one result per function and pair.
#include <cuComplex.h>

#ifdef SINGLE
typedef cuFloatComplex Number;
#define F(name) name##f
#define MAKE make_cuFloatComplex
#else
typedef cuDoubleComplex Number;
#define F(name) name
#define MAKE make_cuDoubleComplex
#endif

__global__ void all(const Number *a, const Number *b, Number *out) {
  const int i = threadIdx.x, n = blockDim.x;
  out[0 * n + i] = F(cuCadd)(a[i], b[i]);
  out[1 * n + i] = F(cuCsub)(a[i], b[i]);
  out[2 * n + i] = F(cuCmul)(a[i], b[i]);
  out[3 * n + i] = F(cuCdiv)(a[i], b[i]);
  out[4 * n + i] = F(cuConj)(a[i]);
  out[5 * n + i] = MAKE(F(cuCabs)(a[i]), 0);
  out[6 * n + i] = F(cuCfma)(a[i], b[i], a[n - 1 - i]);
  out[7 * n + i] = MAKE(F(cuCimag)(a[i]), F(cuCreal)(b[i]));
#ifdef SINGLE
  cuComplex c = cuComplexDoubleToFloat(cuComplexFloatToDouble(a[i]));
  out[8 * n + i] = make_cuComplex(c.y, c.x);
#else
  out[8 * n + i] = cuComplexFloatToDouble(cuComplexDoubleToFloat(a[i]));
#endif
}

extern "C" void solve(const Number *a, const Number *b, Number *out, int n) {
  all<<<1, n>>>(a, b, out);
}
