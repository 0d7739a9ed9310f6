# A custom_kernel that fills the output it is given, and returns it.
# verdict: accepted

import torch


def custom_kernel(data):
    x, y, z = data
    return torch.add(x, y, out=z)
