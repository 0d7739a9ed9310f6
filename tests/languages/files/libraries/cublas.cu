// dtypes: float32
// uses: cublas
#include <cublas_v2.h>

static cublasHandle_t handle() {
  cublasHandle_t made = nullptr;
  cublasCreate(&made);
  cublasSetStream(made, cudaStreamPerThread);
  return made;
}

// In rows C = alpha A B + beta C; what cuBLAS sees as columns are the transposed matrices.
extern "C" void solution(const VAR* a, const VAR* b, VAR* c, float alpha, float beta, size_t m,
                         size_t n, size_t k, size_t ld_a, size_t ld_b, size_t ld_c) {
  static cublasHandle_t own = handle();
  cublasSgemm(own, CUBLAS_OP_N, CUBLAS_OP_N, int(n), int(m), int(k), &alpha, b, int(ld_b), a,
              int(ld_a), &beta, c, int(ld_c));
}
