"""A result on the terminal: the verdict first, the reason second, how to reproduce it third.

Nothing of a result is printed as it is: every string goes through :mod:`harness.text.plain` and
then into :class:`rich.text.Text`, which reads no markup. Works without colour, in a pipe (lines
that are meant to be copied are never wrapped) and at 80 columns.
"""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.records.build import KernelResources
from harness.records.cases import CaseResult, Element, Mismatch, ShrunkCase, TensorValues
from harness.records.conditions_text import describe_conditions
from harness.records.measurement import Measurement, Score
from harness.records.result import Result, Verdict
from harness.report import generation
from harness.report.board import CPU_NOTE, render_board
from harness.report.matrix import matrix_lines
from harness.report.profile import render_profile
from harness.text import numbers
from harness.text.plain import head, plain, plain_lines, tail

__all__ = ["CPU_NOTE", "render_board", "render_result"]

LOG_LINES = 30
OUTPUT_LINES = 20
MAX_KERNELS = 12
MAX_FAILED_CASES = 5
_MESSAGE = 4000
_INDENT = 10
_ROLES = {"input": "", "expected": "green", "got": "red"}

# Below this many operations a byte, what limits any current GPU is its memory.
_COMPUTE_BOUND = 16.0

_STYLES = {
    Verdict.ACCEPTED: "bold green",
    Verdict.NOT_EXECUTABLE_HERE: "bold yellow",
    Verdict.INVALID_SUBMISSION: "bold yellow",
    Verdict.INTERNAL_ERROR: "bold magenta",
}


def render_result(result: Result, console: Console) -> None:
    """Print ``result`` for a person."""
    _verdict(result, console)
    for label, text in generation.describe_generation(result):
        _line(console, label, text)
    if result.accepted:
        _accepted(result, console)
    else:
        _not_accepted(result, console)
    for note in result.notes:
        _line(console, "note", plain_lines(note, _MESSAGE))


def _verdict(result: Result, console: Console) -> None:
    solution = result.solution
    facts = (
        result.problem.slug,
        f"{solution.author}/{solution.name}" if solution.name else solution.path,
        solution.language,
        result.dtype,
        result.device.label,
    )
    text = Text(str(result.verdict), style=_STYLES.get(result.verdict, "bold red"))
    text.append("  " + " · ".join(plain(fact, 60) for fact in facts if fact), style="not bold")
    _print(console, text)


def _accepted(result: Result, console: Console) -> None:
    if result.score is None:
        _line(console, "score", "not timed")
    else:
        _score(result.score, len(result.measurements), console)
    if result.device.emulated:
        _line(console, "device", CPU_NOTE, style="yellow")
    _replay(result, console)
    _line(console, "cases", f"{numbers.integer(len(result.cases))} passed")
    if result.measurements:
        baseline = result.score.baseline if result.score else "baseline"
        console.print(_measurements(result.measurements, baseline))
        if any(each.other_baselines for each in result.measurements):
            console.print(_beside(result.measurements))
        _launches(result.measurements, console)
    if result.conditions is not None:
        _line(console, "card", plain(describe_conditions(result.conditions), 200))
    _resources(result, console)
    if result.profile is not None:
        render_profile(result.profile, console)


def _score(score: Score, shapes: int, console: Console) -> None:
    over = plain(score.baseline, 60)
    mean = f"geometric mean of {shapes} shapes" if shapes > 1 else "one shape"
    _line(
        console,
        "score",
        f"{numbers.ratio(score.speedup)} over {over} ({mean}, 95 % interval)",
        style="bold",
    )
    for other in score.other_baselines:
        over = f"{numbers.ratio(other.speedup)} over {plain(other.baseline, 60)}"
        if other.recorded_at is not None:
            over += f", the best recorded ({other.recorded_at:%Y-%m-%d}; not timed again)"
        _line(console, "", over)
    if not score.ranked:
        _line(console, "", f"not ranked: {plain(score.unranked_reason, 400)}", style="yellow")


def _measurements(measurements: Iterable[Measurement], baseline: str) -> Table:
    measurements = tuple(measurements)
    named = plain(baseline, 20)
    # How near the speed of light, where that is known.
    lit = any(each.sol_fraction is not None for each in measurements)
    columns = ("shape", ">time", f">{named}", f">over {named}", ">rate")
    table = _table(*columns, *([">light"] * lit))
    for each in measurements:
        light = "" if each.sol_fraction is None else f"{each.sol_fraction:.0%}"
        table.add_row(
            # Spaces, so that a narrow terminal breaks the line between two sizes.
            Text(plain(each.spec, 200).replace(",", ", ")),
            Text(numbers.seconds_interval(each.time_s)),
            Text(numbers.seconds(each.baseline_s.value)),
            Text(numbers.ratio(each.speedup)),
            Text(_rate(each)),
            *([Text(light)] * lit),
        )
    return table


def _beside(measurements: Iterable[Measurement]) -> Table:
    """The further baselines, shape by shape."""
    table = _table("shape", "baseline", ">its time", ">speed-up over it")
    for each in measurements:
        for other in each.other_baselines:
            table.add_row(
                Text(plain(each.spec, 200).replace(",", ", ")),
                Text(plain(other.baseline, 20)),
                Text(numbers.seconds(other.time_s.value)),
                Text(numbers.ratio(other.speedup)),
            )
    return table


def _launches(measurements: Sequence[Measurement], console: Console) -> None:
    """Kernels per call, where they are known: the submission's and the baseline's."""
    own = _counts([each.kernels for each in measurements])
    baseline = _counts([each.baseline_kernels for each in measurements])
    if own:
        _line(console, "kernels", f"{own} per call" + (f" (baseline {baseline})" * bool(baseline)))


def _counts(known: Iterable[float | None]) -> str:
    """``1``, or ``1 to 3`` where shapes differ; empty if nothing is known."""
    values = [value for value in known if value is not None]
    if not values:
        return ""
    low, high = (f"{value:.3g}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _rate(each: Measurement) -> str:
    """The rate that matters: of operations, or of bytes where memory is what limits."""
    time_s = each.time_s.value
    if each.flops and (not each.bytes or each.flops / each.bytes >= _COMPUTE_BOUND):
        return numbers.flop_rate(each.flops, time_s)
    return numbers.byte_rate(each.bytes, time_s) if each.bytes else ""


def _resources(result: Result, console: Console) -> None:
    build = result.build
    if build is None:
        return
    origin = "from the cache" if build.cached else f"in {numbers.seconds(build.seconds)}"
    _line(console, "built", f"{origin} for {plain(build.target, 60)}")
    if build.kernels:
        console.print(_kernels(build.kernels[:MAX_KERNELS]))
    if len(build.kernels) > MAX_KERNELS:
        _line(console, "", f"… {len(build.kernels) - MAX_KERNELS} more kernels")


def _kernels(kernels: Iterable[KernelResources]) -> Table:
    kernels = tuple(kernels)
    known = any(kernel.occupancy for kernel in kernels)
    table = _table("kernel", ">registers", ">shared", ">spills", *([">occupancy"] * known))
    for kernel in kernels:
        spilled = kernel.spill_store_bytes + kernel.spill_load_bytes
        table.add_row(
            Text(plain(kernel.name, 120)),
            Text(str(kernel.registers)),
            Text(numbers.bytes_(kernel.shared_bytes)),
            Text(
                f"{numbers.bytes_(kernel.spill_store_bytes)} stored, "
                f"{numbers.bytes_(kernel.spill_load_bytes)} loaded"
                if spilled
                else "none",
                style="yellow" if spilled else "",
            ),
            *([Text(_occupancy(kernel))] * known),
        )
    return table


def _occupancy(kernel: KernelResources) -> str:
    """``50 %``; where the size of a block is not known, the most that some usual one reaches."""
    if not kernel.occupancy:
        return ""
    most = max(each.fraction for each in kernel.occupancy)
    return f"{'' if kernel.threads else 'up to '}{most:.0%}"


def _not_accepted(result: Result, console: Console) -> None:
    code = f"{result.reason}: " if result.reason else ""
    _line(console, "reason", code + plain_lines(result.message, _MESSAGE))
    failed = [case for case in result.cases if not case.passed]
    if result.shrunk is not None:
        _shrunk(result.shrunk, result, console)
    elif failed:
        _case(failed[0], result, console)
    _replay(result, console)
    if failed:
        total = numbers.integer(len(result.cases))
        _line(console, "cases", f"{numbers.integer(len(failed))} of {total} failed")
        for case in failed[1:MAX_FAILED_CASES]:
            _line(console, "", f"also {plain(case.spec, 300)}  {plain(case.message, 200)}")
    log = result.build.log if result.build else ""
    if result.verdict is Verdict.COMPILE_ERROR and log.strip():
        # The first errors are the cause, the later ones their consequences.
        _block(console, "compiler", head(log, LOG_LINES))
    if result.output.strip():
        _block(console, "output of the submission", tail(result.output, OUTPUT_LINES))


def _shrunk(shrunk: ShrunkCase, result: Result, console: Console) -> None:
    """The smallest case in full; the one it was made from by name."""
    _case(shrunk.case, result, console)
    for tensor in shrunk.tensors:
        _tensor(tensor, console)
    trials = numbers.integer(shrunk.trials) + (" trial" if shrunk.trials == 1 else " trials")
    spent = f"({trials}, {numbers.seconds(shrunk.seconds)})"
    first = result.failed_case
    if first is not None and first.spec != shrunk.case.spec:
        _line(console, "shrunk", f"the smallest case found that fails {spent}; it began with")
        _line(console, "", plain(first.spec, 1000), copied=True)
    else:
        _line(console, "shrunk", f"no smaller case was found that fails {spent}")


def _tensor(tensor: TensorValues, console: Console) -> None:
    """``input``, ``expected`` or ``got`` with its rows below, as many columns as there is room."""
    shape = " × ".join(map(str, tensor.shape)) or "one number"
    name = plain(tensor.parameter, 60)
    _line(console, "", f"{tensor.role} {name} ({shape})")
    for line in matrix_lines(tensor, console.width - _INDENT):
        _print(console, Text(" " * _INDENT + line, style=_ROLES[tensor.role]), copied=True)


def _case(case: CaseResult, result: Result, console: Console) -> None:
    _line(console, "case", plain(case.spec, 1000), copied=True)
    if not result.message.startswith(case.message):  # else it has been said
        _line(console, "", plain_lines(case.message, _MESSAGE))
    if case.mismatch is not None:
        _mismatch(case.mismatch, console)


def _mismatch(mismatch: Mismatch, console: Console) -> None:
    differing, total = numbers.integer(mismatch.differing), numbers.integer(mismatch.total)
    noun = "element" if mismatch.total == 1 else "elements"
    _line(console, "differ", f"{differing} of {total} {noun} of {plain(mismatch.parameter, 80)}")
    table = _table("", "index", ">expected", ">got", ">allowed error")
    table.add_row(Text("first"), *_element(mismatch.first))
    table.add_row(Text("worst"), *_element(mismatch.worst))
    console.print(table)


def _element(element: Element) -> tuple[Text, Text, Text, Text]:
    return (
        Text("[" + ", ".join(map(str, element.index)) + "]"),
        Text(_number(element.expected, element.expected_imag), style="green"),
        Text(_number(element.got, element.got_imag), style="red"),
        Text(f"{element.allowed:.3g}"),
    )


def _number(value: float, imaginary: float | None) -> str:
    """An integer to its last digit; ``1.5-2i`` for a complex number."""
    text = str(value) if isinstance(value, int) else numbers.number(value)
    if imaginary is None:
        return text
    part = numbers.number(imaginary)
    return f"{text}{part if part.startswith('-') else '+' + part}i"


def _replay(result: Result, console: Console) -> None:
    if result.reproduce:
        _line(console, "replay", plain(result.reproduce, 4000), copied=True)


def _table(*columns: str) -> Table:
    """Without lines, so that it reads the same in a pipe; ``>`` aligns a column to the right."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in columns:
        right = name.startswith(">")
        table.add_column(
            Text(name.removeprefix(">")),
            justify="right" if right else "left",
            overflow="fold",
            no_wrap=right,
        )
    return table


def _line(
    console: Console, label: str, text: str, *, style: str = "", copied: bool = False
) -> None:
    """A labelled line; text of several lines is indented below its label."""
    line = Text(f"{label:<8}", style="dim")
    indented = text.replace("\n", "\n" + " " * 8)
    line.append(indented, style=f"not dim {style}".strip())
    _print(console, line, copied=copied)


def _block(console: Console, title: str, text: str) -> None:
    _print(console, Text(f"--- {title}", style="dim"))
    _print(console, Text(text), copied=True)


def _print(console: Console, text: Text, *, copied: bool = False) -> None:
    """``copied``: the line is left whole, for the terminal to wrap."""
    console.print(text, soft_wrap=copied, highlight=False, emoji=False, markup=False)
