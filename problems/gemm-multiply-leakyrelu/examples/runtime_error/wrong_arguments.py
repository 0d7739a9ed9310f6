# Takes two parameters instead of eight.
# verdict: runtime_error

import torch  # noqa: F401


def solution(inputs, outputs):
    outputs.zero_()
