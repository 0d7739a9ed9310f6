"""What the time of this harness is worth, on the card at hand: accuracy, repeatability, latency.

`accuracy` compares the judge's time per call with CUPTI's duration of the same kernels, with CUDA
events and with Triton's `do_bench`, all three in a process of its own, on a ladder of kernels from
2 µs to 2 ms. `aa` compares a file with itself, `slowdown` with one that takes 1 % longer, again and
again. `repeat` grades the same files in processes of their own. `constant` shows what batches read
beyond the spins in them, `gate` what is added by a process that goes on from a stop. `latency`
times the whole command, cold and for a second file. `throughput` grades many files in one command
and says where the time goes. `neighbours` shows what cards and processors beside one do to its
scores, and how many files all cards grade. `field` grades the references of other people's problems
as submissions to them, `published` the kernels that others have written for such. `fusion` holds
steps that are fused against the same unfused, by the roofline and by the judge. `audits` shows what
the audits see. Prints tables, and with --json FILE writes what they are made of; asserts nothing.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import ROOT
from benchmarks.command import harness, where
from harness import signals
from harness.sandbox.ending import end_children

SAMPLE = ROOT / "solutions/gemm-multiply-leakyrelu/samples/register_blocked.cu"


Run = Callable[[argparse.Namespace], dict[str, Any]]
"""Prints what was measured, and returns what `--json` writes of it."""
Option = tuple[tuple[str, ...], dict[str, Any]]
"""Arguments of ``add_argument``."""

BENCHMARKS: dict[Run, tuple[Option, ...]] = {}
"""Each with its options; its name is the command's, its docstring the help."""


def option(*names: str, **how: Any) -> Option:
    """An option of a benchmark, by the arguments of ``add_argument``."""
    return names, how


def benchmark(*options: Option) -> Callable[[Run], Run]:
    """Make a function a command with these options."""

    def register(run: Run) -> Run:
        BENCHMARKS[run] = options
        return run

    return register


DEVICE = option("--device", choices=["cuda", "cpu"], default="cuda")

OF_OTHERS = (
    DEVICE,
    option("--cards", default="", metavar="all|N,N", help="the first without"),
    option("--jobs", type=int, default=1, metavar="N", help="at a time on each card"),
    option("--seconds", type=float, default=600.0),
    option(
        "--known", type=Path, action="append", default=[], metavar="FILE", help="an earlier --json"
    ),
)
"""Options of what grades other people's problems."""


def _submit(*arguments: str) -> Any:
    return harness("submit", *arguments)[1]


@benchmark(option("kinds", metavar="KIND", nargs="*"), DEVICE)
def accuracy(chosen: argparse.Namespace) -> dict[str, Any]:
    """The ladder of kernels, KIND spin, copy, gemm and so on."""
    from benchmarks.ladder.clocks import accuracy

    return accuracy(chosen.device, chosen.kinds)


@benchmark(
    option("file", nargs="?", type=Path, default=SAMPLE),
    option("--times", type=int, default=20),
    DEVICE,
)
def aa(chosen: argparse.Namespace) -> dict[str, Any]:
    """A file against itself."""
    from benchmarks.head_to_head import aa

    return aa(chosen.file, chosen.times, chosen.device)


@benchmark(option("--times", type=int, default=20), DEVICE)
def slowdown(chosen: argparse.Namespace) -> dict[str, Any]:
    """A kernel against one that takes 1 %% longer."""
    from benchmarks.head_to_head import slowdown

    return slowdown(chosen.times, chosen.device)


@benchmark(
    option("times", nargs="?", type=int, default=10),
    option("seconds", nargs="?", type=float, default=600.0),
)
def repeat(chosen: argparse.Namespace) -> dict[str, Any]:
    """The same files in processes of their own."""
    from benchmarks.repeatability import repeat

    return repeat(_submit, Path(tempfile.mkdtemp()), chosen.times, chosen.seconds)


@benchmark()
def constant(_: argparse.Namespace) -> dict[str, Any]:
    """What batches read beyond their spins."""
    from benchmarks.ladder.constant import constants

    return constants()


@benchmark()
def gate(_: argparse.Namespace) -> dict[str, Any]:
    """What a batch takes beyond its kernels, by how its process begins it."""
    from benchmarks.gate import gate

    return gate()


@benchmark(option("sample", type=Path, nargs="?", metavar="SAMPLE.cu"))
def latency(chosen: argparse.Namespace) -> dict[str, Any]:
    """Seconds of the whole command, for copies of a CUDA sample."""
    from benchmarks.latency import SAMPLE, latency

    return latency(chosen.sample or SAMPLE)


@benchmark(
    option("count", nargs="?", type=int, default=200),
    option("--effort", choices=["quick", "verdict"], default="quick"),
    DEVICE,
)
def throughput(chosen: argparse.Namespace) -> dict[str, Any]:
    """Many files never built before, in one command."""
    from benchmarks.throughput import throughput

    return throughput(chosen.count, chosen.device, chosen.effort)


@benchmark(option("--times", type=int, default=3), DEVICE)
def returning(chosen: argparse.Namespace) -> dict[str, Any]:
    """Outputs that are returned against ones filled."""
    from benchmarks.head_to_head import head_to_head
    from benchmarks.returning import returning

    return returning(lambda a, b, problem: head_to_head(a, b, chosen.times, chosen.device, problem))


@benchmark(option("--grades", type=int, default=400))
def coverage(chosen: argparse.Namespace) -> dict[str, Any]:
    """How often intervals hold the truth; no GPU."""
    from benchmarks.coverage import covered

    return covered(chosen.grades)


@benchmark(
    option("companies", metavar="COMPANY", nargs="*", help="all without"),
    option("--cards", default="all", metavar="all|N,N"),
    option("--times", type=int, default=3, help="commands for each company"),
    option("--copies", type=int, default=3, help="of each file in a command"),
    option("--seconds", type=float, default=600.0, help="of each company"),
    option("--count", type=int, default=200, help="files for throughput; 0: none"),
)
def neighbours(chosen: argparse.Namespace) -> dict[str, Any]:
    """One card's scores beside others; 2 GPUs."""
    from benchmarks.neighbours import neighbours
    from harness.device.cards import choose_cards, visible_cards

    cards = [card.uuid for card in choose_cards(chosen.cards, visible_cards())]
    return neighbours(
        cards,
        chosen.times,
        chosen.seconds,
        chosen.count,
        copies=chosen.copies,
        companies=chosen.companies,
    )


@benchmark(
    option("paths", metavar="PATH", nargs="+", type=Path, help="a checkout's problems"),
    option("--timed", action="store_true", help="take times, too"),
    option("--part", default="1/1", metavar="N/M"),
    option("--memory", type=float, metavar="GIB", help="of the card, the rest is held"),
    *OF_OTHERS,
)
def field(chosen: argparse.Namespace) -> dict[str, Any]:
    """References of other people's problems; a checkout."""
    from benchmarks.field.collect import field

    return field(
        chosen.paths,
        device=chosen.device,
        timed=chosen.timed,
        seconds=chosen.seconds,
        part=chosen.part,
        memory=chosen.memory,
        known=chosen.known,
        cards=chosen.cards,
        jobs=chosen.jobs,
    )


@benchmark(
    option("file", metavar="FILE", type=Path, help="JSON lines, one for each"),
    option("problems", metavar="PROBLEMS", type=Path, help="a checkout"),
    option(
        "--beside", type=Path, metavar="CHECKOUT", help="KernelBench's, whose evaluation runs, too"
    ),
    option("--beside-seconds", type=float, default=120.0),
    *OF_OTHERS,
)
def published(chosen: argparse.Namespace) -> dict[str, Any]:
    """Kernels that others have published; a file."""
    from benchmarks.published import published

    return published(
        chosen.file,
        chosen.problems,
        device=chosen.device,
        cards=chosen.cards,
        jobs=chosen.jobs,
        seconds=chosen.seconds,
        known=chosen.known,
        beside=chosen.beside,
        beside_seconds=chosen.beside_seconds,
    )


@benchmark(
    option("problems", metavar="PROBLEM", nargs="*", help="all without"),
    option("--dtype", help="float16 without, or a problem's first"),
    option(
        "--results", type=Path, action="append", default=[], metavar="FILE", help="graded already"
    ),
    option("--profiles", type=Path, metavar="FILE", help="--json of an earlier run"),
    option("--seconds", type=float, default=400.0, help="on the card, but for grades"),
)
def fusion(chosen: argparse.Namespace) -> dict[str, Any]:
    """What fusion gains, predicted and measured."""
    from benchmarks.fusion.collect import fusion

    return fusion(
        chosen.problems,
        card=where()["card"],
        submit=_submit,
        dtype=chosen.dtype,
        results=chosen.results,
        profiles=chosen.profiles,
        seconds=chosen.seconds,
    )


@benchmark(option("names", nargs="*"))
def audits(chosen: argparse.Namespace) -> dict[str, Any]:
    """What the audits see."""
    from benchmarks.audits import audits

    return audits(chosen.names)


def main() -> None:
    """One benchmark, by name."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", dest="json_to", metavar="FILE", help="write what was measured")
    commands = parser.add_subparsers(dest="what", required=True)
    for run, options in BENCHMARKS.items():
        command = commands.add_parser(run.__name__, help=run.__doc__)
        command.set_defaults(run=run)
        for names, how in options:
            command.add_argument(*names, **how)
    chosen = parser.parse_args()
    data = chosen.run(chosen)
    if chosen.json_to:
        told = {"what": chosen.what, **where(), **data}
        Path(chosen.json_to).write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    signals.catch(end_children)
    try:
        main()
    except KeyboardInterrupt:
        end_children()
        print(signals.cause() or "interrupted", file=sys.stderr)
    signals.leave()
    if (ended := signals.cause()) is not None:
        sys.exit(ended.exit_code)
