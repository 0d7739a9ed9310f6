#define LAUNCH(k, ...) k<<<1, 2>>>(__VA_ARGS__)
#if 0
asm("x");
#elif defined(X) \
  && 1
#endif
#include <cuda_runtime.h>
namespace a { template <typename T, int N = 3> struct S { T x[N > 1 ? 2 : 1]; }; }
extern __shared__ __align__(16) float dynamic[];
static __device__ int counter;
template <int N>
__global__ void __launch_bounds__(128) k(const float* p, a::S<float> s) {
    __shared__ float tile[N][32], other;
    extern __shared__ char raw[];
    const char* t = R"x(<<< >>> " )x" "\"<<<";
    if (1'000'000u > N) { tile[0][0] = *p; }
}
extern "C" void solution(float* p) {
    a::S<float> s;
    k<3><<<dim3(1, 2), 32, (1 << 2) * sizeof(float), nullptr>>>(p, s);
    (*&k<2>)<<<1, 1>>>(p, s);
}
