#include <cuda_runtime.h>
#define TILE 16

// C = A * B
__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    float acc = 0.0f;
    for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
        As[threadIdx.y][threadIdx.x] = row < M && t * TILE + threadIdx.x < K ? A[row * K + t * TILE + threadIdx.x] : 0.0f;
        Bs[threadIdx.y][threadIdx.x] = t * TILE + threadIdx.y < K && col < N ? B[(t * TILE + threadIdx.y) * N + col] : 0.0f;
#ifndef NO_FIRST
        __syncthreads();
#endif
        for (int k = 0; k < TILE; ++k) acc += As[threadIdx.y][k] * Bs[k][threadIdx.x];
#ifndef NO_SECOND
        __syncthreads();
#endif
    }
    if (row < M && col < N) C[row * N + col] = acc;
}

extern "C" void solution(const float* A, const float* B, float* C, int M, int N, int K) {
    dim3 block(TILE, TILE), grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    gemm<<<grid, block>>>(A, B, C, M, N, K);
    cudaDeviceSynchronize();
}
