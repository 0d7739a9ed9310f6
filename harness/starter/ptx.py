"""A starting point in PTX: the header that launches its kernels, and a kernel for each output."""

import unicodedata
from collections.abc import Sequence
from functools import reduce

from harness.problem.model import Direction, Parameter, Problem
from harness.starter.comments import fresh, head
from harness.starter.ptx_numbers import Numbers
from harness.starter.ptx_types import ElementType, element_type, parameter_type

THREADS = 256
"""Of a block."""

_VERSION = [".version 7.8", ".target sm_70", ".address_size 64"]


def text(problem: Problem, command: str) -> str:
    """The file, for the first of the problem's data types.

    Raises:
        UsageError: a shape or stride takes more than whole numbers to work out.
    """
    dtype = problem.dtypes[0]
    note = [
        f"VAR is {dtype} here, as the first line says. The last lines of this comment say how the "
        "kernels are launched: docs/languages.md has their rules."
    ]
    lines = [f"// dtypes: {dtype}", "//"]
    lines += [*map(_ascii, head(problem, command, "//", note=note)), "//"]
    for output in problem.outputs:
        lines += _launch(problem, output)
    lines += ["", *_VERSION]
    for output in problem.outputs:
        lines += ["", *_kernel(problem, output, dtype)]
    return "\n".join(lines) + "\n"


def _ascii(line: str) -> str:
    """``line`` as ptxas takes it, which refuses all other characters, in comments as well."""
    quoted = line.translate({ord("“"): '"', ord("”"): '"'})
    letters = (c for c in unicodedata.normalize("NFKD", quoted) if not unicodedata.combining(c))
    return "".join(letters).encode("ascii", "replace").decode()


def _launch(problem: Problem, output: Parameter) -> list[str]:
    """What a host would do, as :mod:`harness.solution.launches` reads it."""
    lengths = [str(length) for length in output.shape]
    count = " * ".join(each if each.isidentifier() else f"({each})" for each in lengths)
    return [
        f"// launch: {_kernel_name(problem, output)}",
        f"//   grid: ceil({count} / {THREADS})",
        f"//   block: {THREADS}",
        f"//   arguments: {', '.join(p.name for p in problem.parameters)}",
    ]


def _kernel(problem: Problem, output: Parameter, dtype: str) -> list[str]:
    """One thread for each element of ``output``."""
    data = output.data_type(dtype)
    kind = element_type(data)
    numbers = Numbers(problem, dtype)
    lengths = [numbers.value(length) for length in output.shape]
    count = numbers.product(lengths)
    counting = numbers.take()
    place = _place(numbers, output, lengths)
    start = numbers.emit("ld.param.u64", f"[{output.name}]")
    placing = numbers.take()
    results = ["%result", "%imaginary"][: kind.parts]
    parameters = [f"    .param {parameter_type(p, dtype)} {p.name}" for p in problem.parameters]
    body = [
        ".reg .pred %beyond;",
        ".reg .b32 %block, %threads, %thread;",
        ".reg .b64 %element, %address;",
        f".reg .b64 %v<{numbers.registers + 1}>;",
        f".reg {kind.register} {', '.join(results)};",
        "",
        f"// One thread for each element of {output.name}; the grid is rounded up to whole blocks.",
        "mov.u32 %block, %ctaid.x;",
        "mov.u32 %threads, %ntid.x;",
        "mov.u32 %thread, %tid.x;",
        "mul.wide.u32 %element, %block, %threads;",
        "cvt.u64.u32 %address, %thread;",
        "add.u64 %element, %element, %address;",
        *counting,
        f"setp.ge.u64 %beyond, %element, {count};",
        "@%beyond bra done;",
        "",
        *placing,
        f"cvta.to.global.u64 %address, {start};",
        f"mad.lo.u64 %address, {place}, {data.itemsize}, %address;",
        "",
        *_first_value(output, kind, results),
        "// Here the right answer is to be computed.",
        f"st.global{kind.moved} [%address], {_listed(results)};",
    ]
    return [
        f".visible .entry {_kernel_name(problem, output)}(",
        *",\n".join(parameters).split("\n"),
        ")",
        f".maxntid {THREADS}, 1, 1",
        "{",
        *(f"    {line}".rstrip() for line in body),
        "done:",
        "    ret;",
        "}",
    ]


def _place(numbers: Numbers, output: Parameter, lengths: Sequence[str]) -> str:
    """Where the element lies, in elements: where the tensor is dense, its number says it."""
    if not output.strides:
        return "%element"
    rest, places = "%element", []
    for number in reversed(range(len(lengths))):
        index = rest if number == 0 else numbers.emit("rem.u64", rest, lengths[number])
        if number:
            rest = numbers.emit("div.u64", rest, lengths[number])
        places.append(numbers.product([index, numbers.value(output.strides[number])]))
    return reduce(lambda a, b: numbers.emit("add.u64", a, b), places)


def _first_value(output: Parameter, kind: ElementType, results: Sequence[str]) -> list[str]:
    if output.direction is Direction.INOUT:
        loaded = f"ld.global{kind.moved} {_listed(results)}, [%address];"
        return [f"{loaded}  // what it holds before the call"]
    return [f"mov{kind.register} {result}, {kind.zero};" for result in results]


def _listed(registers: Sequence[str]) -> str:
    return registers[0] if len(registers) == 1 else f"{{{', '.join(registers)}}}"


def _kernel_name(problem: Problem, output: Parameter) -> str:
    return fresh(f"fill_{output.name}", problem)
