"""A result on the terminal: the verdict first, the reason second, how to reproduce it third.

Every string of a result goes through :mod:`harness.text.plain` before it is printed. Works without
colour, in a pipe (lines that are meant to be copied are never wrapped) and at 80 columns.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.records.build import KernelResources
from harness.records.cases import CaseResult, Mismatch, ShrunkCase, TensorValues
from harness.records.measurement import Measurement, Score, describe_conditions
from harness.records.result import Result, Verdict
from harness.report.board import CPU_NOTE
from harness.report.generation import describe_generation
from harness.report.matrix import matrix_lines
from harness.report.profile import render_profile
from harness.report.tables import line, row, spaced, table
from harness.text import numbers
from harness.text.plain import head, plain, plain_lines, tail

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


class Room(NamedTuple):
    """How much of the long parts of a report is shown."""

    log: int = LOG_LINES
    """Lines of a compiler's log."""
    output: int = OUTPUT_LINES
    """Lines that the submission printed."""
    kernels: int = MAX_KERNELS
    """Kernels with their registers."""
    cases: int = MAX_FAILED_CASES
    """Cases that failed."""
    tensors: bool = True
    """Whether a small case is shown with its values."""


_SCREENS = (Room(), Room(15, 10, 6, 3), Room(8, 4, 3, 2), Room(5, 2, 2, 1), Room(3, 1, 1, 1, False))


def render_on_screen(result: Result, console: Console, rest: str) -> None:
    """Print ``result`` so that it fits a terminal's screen, with a line on where the ``rest`` is.

    Long parts are cut until it fits, as far as that goes; in a pipe nothing is.
    """
    if not console.is_terminal:
        render_result(result, console)
        return
    for room in _SCREENS:
        with console.capture() as shown:
            render_result(result, console, room)
        text = shown.get()
        cut = room is not _SCREENS[0]
        if _rows(text, console.width) + cut < console.height:
            break
    console.out(text, end="", highlight=False)
    if cut:
        line(console, f"… shortened; {rest}", "dim")


def _rows(text: str, width: int) -> int:
    """How many rows of a terminal ``text`` takes."""
    lines = [cell_len(Text.from_ansi(each).plain) for each in text.splitlines()]
    return sum(max(1, -(-length // width)) for length in lines)


def render_result(result: Result, console: Console, room: Room = _SCREENS[0]) -> None:
    """Print ``result`` for a person."""
    _verdict(result, console)
    for label, text in describe_generation(result):
        labelled(console, label, text)
    if result.accepted:
        _accepted(result, console, room)
    else:
        _not_accepted(result, console, room)
    for claim in result.claims:  # of the problem's process, and so nobody's to believe
        labelled(console, "claim", plain_lines(claim, _MESSAGE))
    for note in result.notes:
        labelled(console, "note", plain_lines(note, _MESSAGE))


def render_line(result: Result, console: Console) -> None:
    """Print the line of an accepted ``result`` among many, with its score where it has one."""
    score = result.score
    facts = [] if score is None else [f"{numbers.ratio(score.speedup)} over {score.baseline}"]
    if score is not None and not score.ranked:
        facts.append("not ranked")
    line(console, title(result, *facts), copied=True)


def _verdict(result: Result, console: Console) -> None:
    line(console, title(result, result.device.label))


def title(result: Result, *more: str) -> Text:
    """The verdict, whose it is, and ``more``."""
    solution = result.solution
    facts = (
        result.problem.slug,
        f"{solution.author}/{solution.name}" if solution.name else solution.path,
        solution.language,
        result.dtype,
        *more,
    )
    text = Text(str(result.verdict), style=_STYLES.get(result.verdict, "bold red"))
    text.append("  " + " · ".join(plain(fact, 60) for fact in facts if fact), style="not bold")
    return text


def _accepted(result: Result, console: Console, room: Room) -> None:
    if result.score is None:
        emulated = result.device.emulated
        why = ": without a GPU there are verdicts alone" if emulated else ""
        labelled(console, "score", f"not timed{why}")
    else:
        _score(result.score, len(result.measurements), console)
        if result.device.emulated:
            labelled(console, "device", CPU_NOTE, style="yellow")
    _replay(result, console)
    labelled(console, "cases", f"{numbers.integer(len(result.cases))} passed")
    if result.measurements:
        baseline = result.score.baseline if result.score else "baseline"
        console.print(_measurements(result.measurements, baseline))
        if any(each.other_baselines for each in result.measurements):
            console.print(_other_baselines(result.measurements))
        _launches(result.measurements, console)
    if result.conditions is not None:
        labelled(console, "card", plain(describe_conditions(result.conditions), 200))
    _resources(result, console, room.kernels)
    if result.profile is not None:
        render_profile(result.profile, console)


def _score(score: Score, shapes: int, console: Console) -> None:
    over = f"{numbers.ratio(score.speedup)} over {plain(score.baseline, 60)}"
    mean = f"geometric mean of {shapes} shapes" if shapes > 1 else "one shape"
    labelled(console, "score", f"{over} ({mean}, 95 % interval)", style="bold")
    for other in score.other_baselines:
        over = f"{numbers.ratio(other.speedup)} over {plain(other.baseline, 60)}"
        if other.recorded_at is not None:
            over += f", the best recorded ({other.recorded_at:%Y-%m-%d}; not timed again)"
        labelled(console, "", over)
    if not score.ranked:
        labelled(console, "", f"not ranked: {plain(score.unranked_reason, 400)}", style="yellow")


def _measurements(measurements: Sequence[Measurement], baseline: str) -> Table:
    named = plain(baseline, 20)
    # How near the speed of light, where that is known.
    sol = [">light"] * any(each.sol_fraction is not None for each in measurements)
    shapes = table("shape", ">time", f">{named}", f">over {named}", ">rate", *sol)
    for each in measurements:
        cells = [
            spaced(each.spec),
            numbers.seconds_interval(each.time_s),
            numbers.seconds(each.baseline_s.value),
            numbers.ratio(each.speedup),
            _rate(each),
        ]
        if each.sol_fraction is not None:
            cells.append(f"{each.sol_fraction:.0%}")
        row(shapes, *cells)
    return shapes


def _other_baselines(measurements: Iterable[Measurement]) -> Table:
    """The further baselines, shape by shape."""
    shapes = table("shape", "baseline", ">its time", ">speed-up over it")
    for each in measurements:
        for other in each.other_baselines:
            time, ratio = numbers.seconds(other.time_s.value), numbers.ratio(other.speedup)
            row(shapes, spaced(each.spec), plain(other.baseline, 20), time, ratio)
    return shapes


def _launches(measurements: Sequence[Measurement], console: Console) -> None:
    """Kernels per call, where they are known: the submission's and the baseline's."""
    own = _range(each.kernels for each in measurements)
    baseline = _range(each.baseline_kernels for each in measurements)
    if own:
        of_baseline = f" (baseline {baseline})" if baseline else ""
        labelled(console, "kernels", f"{own} per call{of_baseline}")


def _range(known: Iterable[float | None]) -> str:
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


def _resources(result: Result, console: Console, most: int) -> None:
    build = result.build
    if build is None:
        return
    origin = "from the cache" if build.cached else f"in {numbers.seconds(build.seconds)}"
    used = f" with {plain(build.with_libraries, 200)}" if build.libraries else ""
    labelled(console, "built", f"{origin} for {plain(build.target, 60)}{used}")
    if build.kernels:
        console.print(_kernels(build.kernels[:most]))
    if len(build.kernels) > most:
        labelled(console, "", f"… {len(build.kernels) - most} more kernels")


def _kernels(kernels: Sequence[KernelResources]) -> Table:
    known = any(kernel.occupancy for kernel in kernels)
    shown = table("kernel", ">registers", ">shared", ">spills", *([">occupancy"] * known))
    for kernel in kernels:
        stored, loaded = kernel.spill_store_bytes, kernel.spill_load_bytes
        spills = f"{numbers.bytes_(stored)} stored, {numbers.bytes_(loaded)} loaded"
        row(
            shown,
            plain(kernel.name, 120),
            str(kernel.registers),
            numbers.bytes_(kernel.shared_bytes),
            Text(spills, style="yellow") if stored or loaded else "none",
            *([_occupancy(kernel)] * known),
        )
    return shown


def _occupancy(kernel: KernelResources) -> str:
    """``50 %``; where the size of a block is not known, the most that some usual one reaches."""
    if not kernel.occupancy:
        return ""
    highest = max(each.fraction for each in kernel.occupancy)
    return f"{'' if kernel.threads else 'up to '}{highest:.0%}"


def _not_accepted(result: Result, console: Console, room: Room) -> None:
    code = f"{result.reason}: " if result.reason else ""
    labelled(console, "reason", code + plain_lines(result.message, _MESSAGE))
    failed = [case for case in result.cases if not case.passed]
    if result.shrunk is not None:
        _shrunk(result.shrunk, result, console, values=room.tensors)
    elif failed:
        _case(failed[0], result, console)
    _replay(result, console)
    if failed:
        total = numbers.integer(len(result.cases))
        labelled(console, "cases", f"{numbers.integer(len(failed))} of {total} failed")
        for case in failed[1 : room.cases]:
            labelled(console, "", f"also {plain(case.spec, 300)}  {plain(case.message, 200)}")
    log = result.build.log if result.build else ""
    if result.verdict is Verdict.COMPILE_ERROR and log.strip():
        # The first errors are the cause, the later ones their consequences.
        _block(console, "compiler", head(log, room.log))
    if result.output.strip():
        _block(console, "output of the submission", tail(result.output, room.output))


def _shrunk(shrunk: ShrunkCase, result: Result, console: Console, *, values: bool) -> None:
    """The smallest case in full; the one it was made from by name."""
    _case(shrunk.case, result, console)
    for tensor in shrunk.tensors if values else ():
        _tensor(tensor, console)
    if not shrunk.trials:  # no other case was tried
        return
    trials = numbers.integer(shrunk.trials) + (" trial" if shrunk.trials == 1 else " trials")
    spent = f"({trials}, {numbers.seconds(shrunk.seconds)})"
    first = result.failed_case
    if first is not None and first.spec != shrunk.case.spec:
        labelled(console, "shrunk", f"the smallest case found that fails {spent}; it began with")
        labelled(console, "", plain(first.spec, 1000), copied=True)
    else:
        labelled(console, "shrunk", f"no smaller case was found that fails {spent}")


def _tensor(tensor: TensorValues, console: Console) -> None:
    """``input``, ``expected`` or ``got`` with its rows below, as many columns as there is room."""
    shape = " × ".join(map(str, tensor.shape)) or "one number"
    labelled(console, "", f"{tensor.role} {plain(tensor.parameter, 60)} ({shape})")
    for text in matrix_lines(tensor, console.width - _INDENT):
        line(console, " " * _INDENT + text, _ROLES[tensor.role], copied=True)


def _case(case: CaseResult, result: Result, console: Console) -> None:
    labelled(console, "case", plain(case.spec, 1000), copied=True)
    if not result.message.startswith(case.message):  # it is the reason above already
        labelled(console, "", plain_lines(case.message, _MESSAGE))
    if case.mismatch is not None:
        _mismatch(case.mismatch, console)


def _mismatch(mismatch: Mismatch, console: Console) -> None:
    differing = numbers.integer(mismatch.differing)
    elements = numbers.integer(mismatch.total) + " element" + "s" * (mismatch.total != 1)
    parameter = plain(mismatch.parameter, 80)
    labelled(console, "differ", f"{differing} of {elements} of {parameter}")
    shown = table("", "index", ">expected", ">got", ">allowed error")
    for name, element in (("first", mismatch.first), ("worst", mismatch.worst)):
        row(
            shown,
            name,
            "[" + ", ".join(map(str, element.index)) + "]",
            Text(shown_number(element.expected, element.expected_imag), style="green"),
            Text(shown_number(element.got, element.got_imag), style="red"),
            f"{element.allowed:.3g}",
        )
    console.print(shown)


def shown_number(value: float, imaginary: float | None) -> str:
    """An integer to its last digit; ``1.5-2i`` for a complex number."""
    text = str(value) if isinstance(value, int) else numbers.number(value)
    if imaginary is None:
        return text
    part = numbers.number(imaginary)
    return f"{text}{part if part.startswith('-') else '+' + part}i"


def _replay(result: Result, console: Console) -> None:
    if result.reproduce:
        labelled(console, "replay", plain(result.reproduce, 4000), copied=True)


def labelled(
    console: Console, label: str, text: str, *, style: str = "", copied: bool = False
) -> None:
    """Print ``text``, which is plain, behind its label; further lines are indented."""
    shown = Text(f"{label:<8}", style="dim")
    shown.append(text.replace("\n", "\n" + " " * 8), style=f"not dim {style}".strip())
    line(console, shown, copied=copied)


def _block(console: Console, title: str, text: str) -> None:
    line(console, f"--- {title}", "dim")
    line(console, text, copied=True)
