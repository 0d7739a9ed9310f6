// dtypes: float16
// uses: cutlass
#include <cutlass/gemm/device/gemm.h>

// Tensor cores, two stages, and single elements: rows may start anywhere.
using Half = cutlass::half_t;
using Row = cutlass::layout::RowMajor;
using Gemm = cutlass::gemm::device::Gemm<
    Half, Row, Half, Row, Half, Row, float, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80,
    cutlass::gemm::GemmShape<64, 64, 32>, cutlass::gemm::GemmShape<32, 32, 32>,
    cutlass::gemm::GemmShape<16, 8, 16>,
    cutlass::epilogue::thread::LinearCombination<Half, 1, float, float>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 2, 1, 1>;

extern "C" void solution(const VAR* a, const VAR* b, VAR* c, float alpha, float beta, size_t m,
                         size_t n, size_t k, size_t ld_a, size_t ld_b, size_t ld_c) {
  auto* left = reinterpret_cast<const Half*>(a);
  auto* right = reinterpret_cast<const Half*>(b);
  auto* out = reinterpret_cast<Half*>(c);
  Gemm gemm;
  gemm({{int(m), int(n), int(k)},
        {left, int(ld_a)},
        {right, int(ld_b)},
        {out, int(ld_c)},
        {out, int(ld_c)},
        {alpha, beta}},
       nullptr, cudaStreamPerThread);
}
