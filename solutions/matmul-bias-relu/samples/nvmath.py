"""One call of cuBLASLt by nvmath-python: the bias of each row and the rectifier are its epilog."""

import nvmath
from nvmath.linalg.advanced import MatmulComputeType, MatmulEpilog, MatmulOptions

SUMS = {
    "torch.float32": MatmulComputeType.COMPUTE_32F,
    "torch.float64": MatmulComputeType.COMPUTE_64F,
}


def solution(matrix_a, matrix_b, bias, output_matrix, m, n, k):
    options = MatmulOptions(compute_type=SUMS[str(matrix_a.dtype)])
    output_matrix.copy_(
        nvmath.linalg.advanced.matmul(
            matrix_a,
            matrix_b,
            epilog=MatmulEpilog.RELU_BIAS,
            epilog_inputs={"bias": bias},
            options=options,
        )
    )
