"""How many submissions a minute are graded, with all that belongs to it, and where the time goes.

Variants of the CUDA and Triton samples of one problem that were never built before: other constants
and tile sizes, some wrong, some that do not compile; one in four Triton kernels tunes itself. They
are graded by one `harness submit --effort quick` (or `verdict`): real compilation, all correctness
cases, times of three modest shapes in turns with the baseline (`verdict`: rough times).
"""

import io
import itertools
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks import ROOT
from benchmarks.phases import Phases
from harness import signals
from harness.sandbox.ending import end_children

SLUG = "gemm-multiply-leakyrelu"
SAMPLES = ROOT / "solutions" / SLUG / "samples"

PEERS = (
    ("KernelBench, CUDA, a one-line sum on an H100", "62 s each", 60 / 62),
    ("KernelBench, Triton", "6 to 8 s each", 60 / 7),
    ("271 a minute at 64 cloud GPUs: nothing compiled, one trial, no timing", "", 271.0),
)
"""What others need, as far as anybody has published it: what, how it is known, a minute."""

SHAPES = """benchmarks:
  - {m: 1024, n: 1024, k: 1024, alpha: 0.01}
  - {m: 2048, n: 256, k: 2048, alpha: 0.2}
  - {m: 1021, n: 771, k: 515, alpha: 0.1}
"""

Change = tuple[str, str]
"""What is replaced in a sample, and by what."""

_CUDA: tuple[tuple[str, tuple[tuple[Change, ...], ...]], ...] = (
    ("tiled.cu", tuple((("TILE = 32", f"TILE = {tile}"),) for tile in (32, 16, 8, 24))),
    ("register_blocked.cu", tuple((("PAD = 4", f"PAD = {pad}"),) for pad in (4, 8, 12))),
    ("naive.cu", ((),)),
)
_TILES = tuple(itertools.product((64, 32), (64, 32), (3, 4)))
_EACH_TUNED = 4
_WRONG = {
    "cu": ("product >= 0.0f ? product : alpha * product", "product >= 0.0f ? product : product"),
    "py": ("tl.where(product >= 0, product, alpha * product)", "product"),
}
_BROKEN = {"cu": ("size_t n, size_t k) {", "size_t n, size_t k) { oops"), "py": ("):\n", ":\n")}
_EACH_WRONG, _EACH_BROKEN = 9, 11


def throughput(count: int, device: str, effort: str = "quick") -> dict[str, Any]:
    """Grade ``count`` variants on ``device`` with an ``effort`` and print what it took."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        problems, solutions = folder / "problems", folder / "solutions"
        modest(problems / SLUG)
        wanted = write_variants(solutions / SLUG / "bench", count)
        phases = Phases()
        start = time.perf_counter()
        status = _submit(
            phases, str(solutions), "--problems", str(problems), "--device", device,
            "--store", str(folder / "results.sqlite"), "--json", str(folder / "results.jsonl"),
            "--no-shrink", "--effort", effort,
        )  # fmt: skip
        spent = time.perf_counter() - start
        if status > 1:
            raise SystemExit(status)
        results = _results(folder / "results.jsonl")
    found = tell(results, wanted, phases, spent)
    for line in found.pop("lines"):
        print(line)
    return found


def write_variants(folder: Path, count: int) -> dict[str, str]:
    """Write ``count`` files of different content; the verdict that each must get, by its name."""
    folder.mkdir(parents=True)
    wanted = {}
    for number, (sample, text) in enumerate(itertools.islice(_variants(), count)):
        suffix = sample.rpartition(".")[2]
        comment = "//" if suffix == "cu" else "#"
        verdict = "ACCEPTED"
        if number % _EACH_WRONG == _EACH_WRONG - 1:
            text, verdict = _changed(text, _WRONG[suffix]), "WRONG_ANSWER"
        elif number % _EACH_BROKEN == _EACH_BROKEN - 1:
            text, verdict = _changed(text, _BROKEN[suffix]), "COMPILE_ERROR"
        name = f"v{number:04}"
        (folder / f"{name}.{suffix}").write_text(
            f"{text}\n{comment} variant {number} of {time.time_ns()}\n"
        )
        wanted[name] = verdict
    return wanted


def _variants() -> Iterator[tuple[str, str]]:
    """CUDA and Triton in turns, all changes over and over."""
    cuda = [(name, changes) for name, all_changes in _CUDA for changes in all_changes]
    for number in itertools.count():
        turn = number // 2
        sample, changes = ("triton_autotuned.py", None) if number % 2 else cuda[turn % len(cuda)]
        text = (SAMPLES / sample).read_text()
        for change in [_other_tile(text, turn)] if changes is None else changes:
            text = _changed(text, change)
        yield sample, text


def _other_tile(text: str, turn: int) -> Change:
    """Another tile for the small one of the Triton sample; in three of four turns for them all."""
    tile = "_config({}, {}, 32, 4, {})".format(*_TILES[turn % len(_TILES)])
    if turn % _EACH_TUNED == _EACH_TUNED - 1:
        return "_config(64, 64, 32, 4, 4)", tile
    start = text.index("_CONFIGS = [")
    return text[start : text.index("\n]", start) + 2], f"_CONFIGS = [{tile}]"


def _changed(text: str, change: Change) -> str:
    old, new = change
    if old not in text:
        raise ValueError(f"a sample has changed: it has no {old!r}")
    return text.replace(old, new, 1)


def modest(folder: Path, slug: str = SLUG, shapes: str = SHAPES) -> None:
    """The problem ``slug`` with other shapes; without, such as take a card little time."""
    shutil.copytree(ROOT / "problems" / slug, folder)
    statement = folder / "problem.md"
    text, found = re.subn(r"^benchmarks:\n(?:  - .*\n)+", shapes, statement.read_text(), flags=re.M)
    if found != 1:
        raise ValueError("the problem's benchmarks are not where they were")
    statement.write_text(text)


def _submit(phases: Phases, *arguments: str) -> int:
    """One command, in this process so that its phases can be noted."""
    from harness import cli

    words = ["harness", "submit", *arguments]
    with (
        mock.patch("harness.progress.progress.progress", lambda: phases),
        redirect_stdout(io.StringIO()),
        mock.patch.object(sys, "argv", words),
    ):
        try:
            cli.main()
        except SystemExit as end:
            return int(end.code or 0)
        finally:
            signals.catch(end_children)  # the command is over, and this process is not
    return 0


def _slowest(results: list[Any], phases: Phases) -> Iterator[str]:
    """The shape that took longest, and the one that was looked at most: many looks are a doubt."""
    if "time" in phases.longest:
        seconds, name = phases.longest["time"]
        yield f"longest: {seconds:.1f} s, {name}"
    looks = [
        (shape.overlap_looks or 0, each.solution.name, shape.spec)
        for each in results
        for shape in each.measurements
    ]
    if looks:
        yield "most looks at calls at work: {}, {}, {}".format(*max(looks))


def _results(file: Path) -> list[Any]:
    from harness.records.result import Result

    return [Result.from_json(line) for line in file.read_text().splitlines()]


def _steady(results: list[Any]) -> float:
    """Files a minute from the end of the first third of them to the last."""
    times = sorted(each.created.timestamp() for each in results)
    first = len(times) // 3
    spent = times[-1] - times[first] if times else 0.0
    return 60 * (len(times) - 1 - first) / spent if spent else 0.0


def tell(
    results: list[Any], wanted: dict[str, str], phases: Phases, spent: float
) -> dict[str, Any]:
    """Figures, and the ``lines`` that show them."""
    phases.finish()
    rate = 60 * len(results) / spent
    steady = _steady(results)
    verdicts = Counter(str(each.verdict) for each in results)
    wrong = [
        f"{each.solution.name} is {each.verdict}, not {wanted[each.solution.name]}: {each.message}"
        for each in results
        if each.verdict != wanted[each.solution.name]
    ]
    builds = [each.build.seconds for each in results if each.build and not each.build.cached]
    device = results[0].device if results else None
    lines = [
        f"{len(results)} files in {spent:.0f} s: {rate:.1f} a minute on "
        f"{device.name if device else 'nothing'}",
        f"once all had started (without the first third): {steady:.1f} a minute",
        "verdicts: " + ", ".join(f"{count} {name}" for name, count in verdicts.most_common()),
        *(f"UNEXPECTED: {line[:300]}" for line in wrong),
        "",
        "| where the time goes | s | part | s a file |",
        "|---|---|---|---|",
    ]
    total = sum(phases.seconds.values())
    for name, seconds in sorted(phases.seconds.items(), key=lambda item: -item[1]):
        part = f"{seconds / total:.0%}"
        lines.append(f"| {name} | {seconds:.1f} | {part} | {seconds / len(results):.2f} |")
    lines += ["", *_slowest(results, phases)]
    if builds:
        lines += [
            "",
            f"compilers worked {sum(builds):.0f} s, side by side; "
            f"{statistics.median(builds):.1f} s a file in the median",
        ]
    lines += ["", "| a minute | who |", "|---|---|", f"| {rate:.1f} | this harness |"]
    lines += [f"| {each:.1f} | {who}{f' ({how})' if how else ''} |" for who, how, each in PEERS]
    return {
        "lines": lines,
        "files": len(results),
        "seconds": spent,
        "per_minute": rate,
        "steady_per_minute": steady,
        "verdicts": dict(verdicts),
        "unexpected": wrong,
        "phases_s": dict(phases.seconds),
        "build_s": builds,
        "device_name": device.name if device else "",
    }
