"""Kernels that others have published, graded for the problems that they were written for.

FILE has a record for each, PROBLEMS is a checkout with their problems. `--jobs 4` grades four at a
time on each card, each by a `harness check` with its share of the records and of the processors.
`--beside CHECKOUT` has KernelBench's own evaluation, from that checkout, look at some of the
records as its users run it, each in a process of its own, and `harness check` at the same ones,
alone on the card as well.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import ROOT
from benchmarks.command import HARNESS, harness
from benchmarks.order import mixed
from harness.device.cards import Card, choose_cards, visible_cards
from harness.solution.generation.record import read_record

_LATER_S = 60.0
"""What a command may take beyond its limit: it ends what it has begun."""
_OWN_S = 120.0
"""What KernelBench's evaluation of one record may take."""

_OWN = """
import importlib.util, json, sys, tempfile
from unittest import mock
for name in ("dotenv", "litellm", "openai", "requests", "tqdm"):
    if importlib.util.find_spec(name) is None:
        sys.modules[name] = mock.MagicMock()
sys.path.insert(0, sys.argv[1])
import torch
from kernelbench.eval import eval_kernel_against_ref
record = json.load(sys.stdin)
with tempfile.TemporaryDirectory() as built:
    found = eval_kernel_against_ref(
        record["ref_code"], record["custom_code"], num_correct_trials=5, num_perf_trials=100,
        measure_performance=True, build_dir=built, device=torch.device("cuda:0"), backend="cuda",
        precision=torch.float32,
    )
print(json.dumps({"compiled": bool(found.compiled), "correct": bool(found.correctness)}))
"""
"""As its scripts/eval_from_generations.py calls it. Its package imports clients of servers, which
an evaluation does not call: where they are not installed, nothing stands for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What became of one record."""

    record: int
    """Its number in the file, from 1."""
    slug: str
    verdict: str
    message: str
    claims: tuple[str, ...]
    seconds: float
    """From the grade before it, in its process, to its own end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """One record by both evaluations, each alone on the card."""

    record: int
    inline: bool
    """Whether it builds an extension."""
    verdict: str
    seconds: float
    """Of the whole `harness check`."""
    own: str
    """What KernelBench's says: correct, wrong, not compiled, or no answer."""
    own_seconds: float
    """Of its whole process."""


def published(
    file: Path,
    problems: Path,
    *,
    device: str,
    cards: str,
    jobs: int,
    seconds: float,
    known: Sequence[Path] = (),
    beside: Path | None = None,
    beside_seconds: float = 120.0,
) -> dict[str, Any]:
    """Grade the records of ``file`` until the time is up, and print what became of them."""
    records = with_code(file)
    rows = {row.record: row for row in earlier(known)}
    left = [number for number in mixed([*records]) if number not in rows]
    chosen = choose_cards(cards, visible_cards()) if cards else []
    for row in checked(file, problems, left, device, chosen, jobs, seconds):
        rows[row.record] = row
    for line in table([*rows.values()]):
        print(line)
    both: list[Beside] = []
    if beside is not None:
        both = list(by_both(file, problems, records, device, beside, beside_seconds))
        for line in beside_table(both):
            print(line)
    return {
        "found": len(records),
        "graded": [asdict(rows[number]) for number in sorted(rows)],
        "beside": [asdict(each) for each in both],
    }


def with_code(file: Path) -> dict[int, dict[str, Any]]:
    """The records of JSON lines that have source text, by their numbers."""
    lines = file.read_text(encoding="utf-8").split("\n")
    read = {number: json.loads(line) for number, line in enumerate(lines, 1) if line.strip()}
    return {n: each for n, each in read.items() if read_record(each, file, n).text}


def earlier(files: Sequence[Path]) -> Iterator[Row]:
    """What earlier runs have graded."""
    for file in files:
        for each in json.loads(file.read_bytes())["graded"]:
            yield Row(**{**each, "claims": tuple(each["claims"])})


def checked(
    file: Path,
    problems: Path,
    numbers: Sequence[int],
    device: str,
    cards: Sequence[Card],
    jobs: int,
    seconds: float,
) -> Iterator[Row]:
    """The rows of `harness check`, so many commands at a time for each card."""
    count = min(len(numbers), jobs * max(1, len(cards)))
    begun: list[tuple[subprocess.Popen[bytes], Path, datetime]] = []
    processors = sorted(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        for job in range(count):
            where = ["--card", cards[job % len(cards)].uuid] if cards else ["--device", device]
            command = [
                *HARNESS, "check", *(f"{file.resolve()}:{n}" for n in numbers[job::count]), *where,
                "--problem", str(problems.resolve()), "--no-shrink", "--limit-s", str(seconds),
                "--json", "-",
            ]  # fmt: skip
            out = Path(folder) / str(job)
            with out.open("wb") as stdout, kept_to(processors[job::count] or processors):
                process = subprocess.Popen(
                    command, stdout=stdout, stderr=subprocess.DEVNULL, cwd=ROOT
                )
            begun.append((process, out, datetime.now(UTC)))
        until = time.monotonic() + seconds + _LATER_S
        for process, _, _ in begun:
            try:
                process.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.terminate()
                process.wait()
        for _, out, before in begun:
            for line in out.read_text(encoding="utf-8").splitlines():
                result = json.loads(line)
                ended = datetime.fromisoformat(result["created"])
                yield row_of(result, (ended - before).total_seconds())
                before = ended


@contextmanager
def kept_to(processors: Sequence[int]) -> Iterator[None]:
    """What is started in this block may use these processors alone."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, processors)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def row_of(result: Mapping[str, Any], seconds: float) -> Row:
    """The row of a result's JSON; its message says nothing of where the file lies."""
    path, _, number = result["solution"]["path"].rpartition(":")
    message = result["message"].replace(f"{Path(path).parent}/", "")
    return Row(
        record=int(number),
        slug=result["problem"]["slug"],
        verdict=result["verdict"],
        message=(message.splitlines() or [""])[0][:200],
        claims=tuple(result["claims"]),
        seconds=round(seconds, 1),
    )


def by_both(
    file: Path,
    problems: Path,
    records: Mapping[int, Mapping[str, Any]],
    device: str,
    checkout: Path,
    seconds: float,
) -> Iterator[Beside]:
    """Some records by both evaluations, those that build extensions first, in turns."""
    numbers = mixed([*records])
    inline = [n for n in numbers if "load_inline" in str(records[n])]
    plain = [n for n in numbers if n not in inline]
    turns = [n for pair in zip(inline, plain, strict=False) for n in pair] or numbers
    until = time.monotonic() + seconds
    for number in turns:
        if time.monotonic() > until:
            return
        ours, results = harness(
            *("check", f"{file.resolve()}:{number}", "--problem", str(problems.resolve())),
            *("--device", device, "--no-shrink"),
        )
        start = time.monotonic()
        said = own_evaluation(records[number], checkout)
        yield Beside(
            record=number,
            inline=number in inline,
            verdict=results[0]["verdict"] if results else "",
            seconds=round(ours, 1),
            own=said,
            own_seconds=round(time.monotonic() - start, 1),
        )


def own_evaluation(record: Mapping[str, Any], checkout: Path) -> str:
    """What KernelBench's own evaluation says of a record."""
    command = [sys.executable, "-c", _OWN, str(checkout.resolve() / "src")]
    try:
        done = subprocess.run(
            command,
            input=json.dumps(record),
            capture_output=True,
            text=True,
            timeout=_OWN_S,
            env={**os.environ, "MAX_JOBS": str(os.cpu_count())},
            check=True,
        )
        told = json.loads(done.stdout.splitlines()[-1])
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or [f"status {error.returncode}"])[-1]
        return f"no answer: {last[:100]}"
    except (subprocess.SubprocessError, ValueError, IndexError):
        return "no answer"
    if not told["compiled"]:
        return "not compiled"
    return "correct" if told["correct"] else "wrong"


def table(rows: Sequence[Row]) -> Iterator[str]:
    """How many of each verdict, and seconds for each."""
    if rows:
        spent = [each.seconds for each in rows]
        yield (
            f"{len(rows)} graded; {statistics.median(spent):.1f} s for one in the median, "
            f"{max(spent):.1f} at most"
        )
    for verdict, count in Counter(each.verdict for each in rows).most_common():
        yield f"{count:4} {verdict}"
    for each in rows:
        if each.verdict != "ACCEPTED":
            yield f"     {each.record} {each.slug} {each.verdict} {each.message}"


def beside_table(both: Sequence[Beside]) -> Iterator[str]:
    """Seconds and verdicts of both, as Markdown."""
    yield "| record | builds an extension | verdict | s | KernelBench's | s |"
    yield "|---|---|---|---|---|---|"
    for each in both:
        cells = [
            str(each.record),
            "yes" if each.inline else "",
            each.verdict,
            f"{each.seconds:.1f}",
            each.own,
            f"{each.own_seconds:.1f}",
        ]
        yield f"| {' | '.join(cells)} |"
