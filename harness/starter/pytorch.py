"""A starting point in PyTorch."""

from harness.problem.model import Direction, Problem
from harness.problem.signature import python_signature
from harness.starter.comments import head


def text(problem: Problem, command: str) -> str:
    """The file: a comment, and a function that writes every output."""
    note = [
        f"VAR is the tensors' dtype: {', '.join(problem.dtypes)}. Write into the outputs; what is "
        "returned is ignored. (Entry points that return: docs/writing-solutions.md.)"
    ]
    lines = [*head(problem, command, "#", note=note), "", "import torch", "", ""]
    lines += [python_signature(problem), "    # Here the right answer is to be computed."]
    for output in problem.outputs:
        if output.direction is Direction.INOUT:
            lines.append(f"    {output.name}.copy_({output.name})  # what it holds before the call")
        else:
            lines.append(f"    {output.name}.copy_(torch.zeros_like({output.name}))")
    return "\n".join(lines) + "\n"
