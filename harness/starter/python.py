"""A starting point in PyTorch: operations on whole tensors."""

from harness.problem.model import Direction, Problem
from harness.problem.signature import python_signature
from harness.starter.comments import python_head


def text(problem: Problem, command: str) -> str:
    """The file: a comment, and a function that writes every output."""
    lines = [*python_head(problem, command, problem.dtypes), "", "import torch", "", ""]
    lines += [python_signature(problem), "    # Here the right answer is to be computed."]
    for output in problem.outputs:
        name = output.name
        if output.direction is Direction.INOUT:
            lines.append(f"    {name}.copy_({name})  # what it holds before the call")
        else:
            lines.append(f"    {name}.copy_(torch.zeros_like({name}))")
    return "\n".join(lines) + "\n"
