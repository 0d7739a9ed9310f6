"""A starting point in Triton."""

from harness.problem import describe as words
from harness.problem.model import Direction, Parameter, Problem
from harness.problem.signature import python_signature
from harness.starter.comments import fresh, index_names, python_head


def text(problem: Problem, command: str) -> str:
    """The file: a comment, a kernel for each output, and the function that launches them."""
    lines = [*python_head(problem, command, problem.dtypes), ""]
    lines += ["import torch"] if _complex(problem) else []
    lines += ["import triton", "import triton.language as tl"]
    for output in problem.outputs:
        lines += ["", "", *_kernel(problem, output)]
    return "\n".join([*lines, "", "", *_entry(problem)]) + "\n"


def _complex(problem: Problem) -> list[Parameter]:
    return [p for p in problem.tensors if words.is_complex(problem, p)]


def _axes(problem: Problem, output: Parameter) -> list[str]:
    """A name for the index along each dimension of what the kernel sees."""
    names = index_names(problem, output)
    return [*names, fresh("part", problem)] if words.is_complex(problem, output) else names


def _kernel(problem: Problem, output: Parameter) -> list[str]:
    """``BLOCK`` elements of ``output`` for each program."""
    names = _axes(problem, output)
    count, block = fresh("count", problem), fresh("BLOCK", problem)
    element, inside, place, result = (
        fresh(name, problem) for name in ("element", "inside", "place", "result")
    )
    arguments = [p.name for p in problem.parameters]
    arguments += [f"{name}_{what}" for what in ("length", "stride") for name in names]
    lines = ["@triton.jit", f"def {_kernel_name(problem, output)}("]
    lines += [f"    {name}," for name in arguments]
    lines += [f"    {count},", f"    {block}: tl.constexpr,", "):"]
    lines += [
        f"    # {block} elements of {output.name} for each program; the last may have fewer.",
        f"    {element} = tl.program_id(0).to(tl.int64) * {block} + tl.arange(0, {block})",
        f"    {inside} = {element} < {count}",
    ]
    rest = element
    for name in reversed(names[1:]):
        lines.append(f"    {name} = {rest} % {name}_length")
        rest = f"{rest} // {name}_length"
    lines.append(f"    {names[0]} = {rest}")
    places = " + ".join(f"{name} * {name}_stride" for name in names)
    lines.append(f"    {place} = {places}")
    if words.is_complex(problem, output):
        lines.append(f"    # {names[-1]} is 0 for real parts and 1 for imaginary ones.")
    if output.direction is Direction.INOUT:
        start = f"tl.load({output.name} + {place}, mask={inside})  # what it holds before the call"
    else:
        start = f"tl.zeros(({block},), dtype=tl.float32)"
    lines += [
        f"    {result} = {start}",
        "    # Here the right answer is to be computed.",
        f"    {result} = {result}.to({output.name}.dtype.element_ty)",
        f"    tl.store({output.name} + {place}, {result}, mask={inside})",
    ]
    return lines


def _entry(problem: Problem) -> list[str]:
    block = fresh("BLOCK", problem)
    lines = [python_signature(problem)]
    for parameter in _complex(problem):
        name = parameter.name
        lines.append(f"    {name} = torch.view_as_real({name})  # one dimension more: two parts")
    for output in problem.outputs:
        rank = len(_axes(problem, output))
        name = output.name
        grid = fresh("programs", problem)
        lines += [
            f"    {grid} = triton.cdiv({name}.numel(), 1024)",
            f"    {_kernel_name(problem, output)}[({grid},)](",
            *(f"        {p.name}," for p in problem.parameters),
            *(f"        {name}.shape[{d}]," for d in range(rank)),
            *(f"        {name}.stride({d})," for d in range(rank)),
            f"        {name}.numel(),",
            f"        {block}=1024,",
            "    )",
        ]
    return lines


def _kernel_name(problem: Problem, output: Parameter) -> str:
    return fresh(f"fill_{output.name}", problem)
