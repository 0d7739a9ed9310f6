"""The contents of a declared tensor, as a correctness case has them."""

from torch import Tensor

from harness.problem.case import Case
from harness.problem.model import Parameter
from harness.problem.package import Problem


def draw_tensor(
    problem: Problem, parameter: Parameter, case: Case, dtype: str, seed: str
) -> Tensor:
    tensors = {tensor.name: tensor for tensor in problem.tensors_of(case, dtype)}
    return problem.inputs().draw(tensors[parameter.name], case, seed)
