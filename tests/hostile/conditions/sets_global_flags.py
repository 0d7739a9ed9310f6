# Sets every flag for less precise arithmetic, so that a reference would err as it does.
# threat: 53, 54
# problem: vector-add
# verdict: wrong_answer

import torch

torch.set_default_dtype(torch.float16)
torch.set_float32_matmul_precision("medium")
torch.set_flush_denormal(True)
torch.backends.cuda.matmul.allow_tf32 = True
torch.set_num_threads(1)


def solution(x, y, z, n):
    z.copy_(torch.tensor(0.0) + x.half() + y.half())
