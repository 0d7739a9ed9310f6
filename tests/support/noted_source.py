"""A source of inputs that says what it was asked for."""

import threading

import torch
from torch import Tensor

from harness.errors import ProblemError
from harness.problem.case import Case
from harness.problem.terms import TensorSpec


class NotedSource:
    """Draws its tensor's first letter; says how often, and fails for one that is named so."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.drew = threading.Semaphore(0)

    def draw(self, tensor: TensorSpec, case: Case, seed: str) -> Tensor:
        self.asked.append(tensor.name)
        self.drew.release()
        if tensor.name == "wrong":
            raise ProblemError([])
        return torch.full(tensor.shape, float(ord(tensor.name[0])))

    def write(self, out: Tensor, tensor: TensorSpec, case: Case, seed: str) -> None:
        out.copy_(self.draw(tensor, case, seed))

    def fill(
        self, out: Tensor, tensor: TensorSpec, case: Case, seed: str, *, warm_up: bool
    ) -> None:
        self.asked.append(tensor.name)
        out.fill_(ord(tensor.name[0]))
