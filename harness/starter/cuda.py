"""A starting point in CUDA C++."""

from harness.languages.build.prelude import VAR_TYPES
from harness.problem import describe as words
from harness.problem.model import Parameter
from harness.problem.package import Problem
from harness.problem.signature import ENTRY_POINT, c_arguments, c_type
from harness.problem.sizes import in_order
from harness.problem.terms import Direction
from harness.starter.comments import fresh, head, index_names
from harness.starter.expressions import c_expression

_WIDTH = 100


def text(problem: Problem, command: str) -> str:
    """The file: a comment, a kernel for each output, and the function that launches them."""
    types = ", ".join(f"{VAR_TYPES[dtype]} ({dtype})" for dtype in problem.dtypes)
    note = [f"VAR is the type of an element, defined by the build: {types}."]
    if not problem.has_variable_type:
        note = []
    if any(words.is_complex(problem, p) for p in problem.tensors):
        note.append("Complex numbers have .x (real part) and .y; cuComplex.h, included, has more.")
    if problem.libraries is None or problem.libraries:
        some = ", ".join(problem.libraries or ("cublasLt", "cutlass"))
        note.append(f'CUDA libraries are named in a comment like this one, "uses: {some}".')
    parts = [head(problem, command, "//", note=note)]
    parts += [_kernel(problem, output) for output in problem.outputs]
    parts.append(_entry(problem))
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def _kernel(problem: Problem, output: Parameter) -> list[str]:
    """One thread for each element of ``output``."""
    element, place, result = (fresh(n, problem) for n in ("element", "place", "result"))
    indices = index_names(problem, output)
    if output.direction is Direction.INOUT:
        start = f" = {output.name}[{place}];  // what it holds before the call"
    else:
        start = "{};  // zero"
    return [
        f"// One thread for each element of {output.name}.",
        *_call("__global__ void", _kernel_name(problem, output), c_arguments(problem), " {"),
        *_unpassed(problem, output),
        f"    const size_t {element} = blockIdx.x * size_t(blockDim.x) + threadIdx.x;",
        "    // The grid is rounded up to whole blocks.",
        f"    if ({element} >= {_count(problem, output)}) return;",
        *(f"    const size_t {line};" for line in _indices(problem, output, element, indices)),
        f"    const size_t {place} = {_place(problem, output, indices)};",
        f"    {c_type(output)} {result}{start}",
        "    // Here the right answer is to be computed.",
        f"    {output.name}[{place}] = {result};",
        "}",
    ]


def _entry(problem: Problem) -> list[str]:
    threads = fresh("threads", problem)
    lines = [
        *_call('extern "C" void', ENTRY_POINT, c_arguments(problem), " {"),
        f"    const unsigned {threads} = 256;  // in a block",
    ]
    names = [p.name for p in problem.parameters]
    lines += dict.fromkeys(
        line for output in problem.outputs for line in _unpassed(problem, output)
    )
    for output in problem.outputs:
        kernel = _kernel_name(problem, output)
        blocks = fresh(f"blocks_{output.name}", problem)
        count = _count(problem, output)
        lines += [
            f"    const size_t {blocks} = ({count} + {threads} - 1) / {threads};",
            *_call("   ", f"{kernel}<<<unsigned({blocks}), {threads}>>>", names, ";"),
        ]
    return [*lines, "}"]


def _unpassed(problem: Problem, output: Parameter) -> list[str]:
    """Lines for the sizes in the shape of ``output`` that the entry point is not told."""
    sizes = {size.name: size for size in problem.unpassed}
    wanted = {name for e in (*output.shape, *output.strides) for name in e.names}
    lines = []
    for size in in_order(problem.sizes):
        if size.name not in sizes or size.name not in wanted:
            continue
        if size.equals is None or size.equals.names & sizes.keys():
            value = "1;  // not passed: to be found out from what is"
        else:
            value = f"{c_expression(size.equals, problem)};"
        lines.append(f"    const size_t {size.name} = {value}")
    return lines


def _kernel_name(problem: Problem, output: Parameter) -> str:
    return fresh(f"fill_{output.name}", problem)


def _count(problem: Problem, output: Parameter) -> str:
    """The number of elements."""
    if not output.shape:
        return "1"
    several = len(output.shape) > 1
    return " * ".join(c_expression(length, problem, factor=several) for length in output.shape)


def _indices(problem: Problem, output: Parameter, element: str, names: list[str]) -> list[str]:
    """``row = element / n``, ``column = element % n``."""
    lengths = [_divisor(c_expression(length, problem)) for length in output.shape]
    inner = [" / ".join([element, *reversed(lengths[d + 1 :])]) for d in range(len(names))]
    return [
        f"{name} = {inner[d]}" + (f" % {lengths[d]}" if d else "") for d, name in enumerate(names)
    ]


def _divisor(text: str) -> str:
    return text if text.replace("_", "").isalnum() else f"({text})"


def _place(problem: Problem, output: Parameter, names: list[str]) -> str:
    """Where an element lies: ``row * ld + column``."""
    if output.strides:
        steps = [c_expression(step, problem, factor=True) for step in output.strides]
        return " + ".join(
            name if step == "1" else f"{name} * {_divisor(step)}"
            for name, step in zip(names, steps, strict=True)
        )
    place = names[0] if names else "0"
    for name, length in zip(names[1:], output.shape[1:], strict=True):
        place = f"({place})" if " " in place else place
        place = f"{place} * {_divisor(c_expression(length, problem))} + {name}"
    return place


def _call(before: str, name: str, arguments: list[str], after: str) -> list[str]:
    """``before name(arguments)after``, broken into lines that are not too long."""
    start = f"{before} {name}("
    lines = [start]
    for number, argument in enumerate(arguments):
        piece = argument + ("," if number + 1 < len(arguments) else f"){after}")
        space = "" if lines[-1].endswith("(") else " "
        if len(lines[-1]) + len(space) + len(piece) > _WIDTH and not lines[-1].endswith("("):
            lines.append(" " * (len(start) if len(start) <= _WIDTH // 2 else 8))
            space = ""
        lines[-1] += space + piece
    return lines
