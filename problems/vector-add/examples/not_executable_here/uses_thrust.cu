// A library that launches its own kernels: only a GPU has it.
// verdict: accepted; on cpu: not_executable_here
// dtypes: float32

#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/transform.h>

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    thrust::transform(thrust::device, x, x + n, y, z, thrust::plus<VAR>());
}
