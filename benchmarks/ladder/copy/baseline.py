"""PyTorch's own copy."""


def solution(x, y, n):  # noqa: ARG001, D103
    y.copy_(x)
