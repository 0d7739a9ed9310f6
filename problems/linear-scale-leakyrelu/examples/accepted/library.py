# What one would write in PyTorch: the library adds the bias in float32, each later step may round.
# verdict: accepted

import torch
import torch.nn.functional as F

torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False


def solution(matrix_x, weight, bias, scale, slope, output_matrix, batch, in_features, out_features):
    z = F.linear(matrix_x, weight, bias)
    z.mul_(scale)
    output_matrix.copy_(F.leaky_relu(z, slope))
