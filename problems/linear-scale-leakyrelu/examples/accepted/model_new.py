# A module as in KernelBench: sizes and scalars make it, its weights are the problem's tensors.
# verdict: accepted

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features, scale, slope):
        super().__init__()
        self.layer = nn.Linear(in_features, out_features)
        self.scale = scale
        self.slope = slope

    def forward(self, x):
        # In float32 whatever the type: no rounding before the end.
        y = nn.functional.linear(x.float(), self.layer.weight.float(), self.layer.bias.float())
        y = y * self.scale
        return torch.where(y >= 0, y, y * self.slope).to(x.dtype)
