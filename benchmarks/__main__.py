"""What the time of this harness is worth, on the card at hand: accuracy, repeatability, latency.

`accuracy` compares the judge's time per call with CUPTI's duration of the same kernels, with CUDA
events and with Triton's `do_bench`, all three in a process of its own, on a ladder of kernels from
2 µs to 2 ms. `aa` compares a file with itself, `slowdown` with one that takes 1 % longer, again and
again. `repeat` grades the same files in processes of their own. `constant` shows what batches read
beyond the spins in them. `latency` times the whole command, cold and for a second file.
`throughput` grades many files in one command and says where the time goes. `neighbours` shows what
cards and processors beside one do to its scores, and how many files all cards grade. `field` grades
the references of other people's problems as submissions to them, `published` the kernels that
others have written for such. `fusion` holds steps that are fused against the same unfused, by the
roofline and by the judge. `audits` shows what the audits see. Prints tables, and with --json FILE
writes what they are made of; asserts nothing.
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


Options = argparse.ArgumentParser
Chosen = argparse.Namespace
Run = Callable[[Chosen], dict[str, Any]]
"""Prints what was measured, and returns what `--json` writes of it."""


def _on_device(options: Options) -> None:
    options.add_argument("--device", choices=["cuda", "cpu"], default="cuda")


def accuracy(options: Options) -> Run:
    """The ladder of kernels, KIND spin, copy, gemm and so on."""
    options.add_argument("kinds", metavar="KIND", nargs="*")
    _on_device(options)

    def run(chosen: Chosen) -> dict[str, Any]:
        from benchmarks.ladder.clocks import accuracy

        return accuracy(chosen.device, chosen.kinds)

    return run


def aa(options: Options) -> Run:
    """A file against itself."""
    options.add_argument("file", nargs="?", type=Path, default=SAMPLE)
    options.add_argument("--times", type=int, default=20)
    _on_device(options)

    def run(chosen: Chosen) -> dict[str, Any]:
        from benchmarks.head_to_head import aa

        return aa(chosen.file, chosen.times, chosen.device)

    return run


def slowdown(options: Options) -> Run:
    """A kernel against one that takes 1 %% longer."""
    options.add_argument("--times", type=int, default=20)
    _on_device(options)

    def run(chosen: Chosen) -> dict[str, Any]:
        from benchmarks.head_to_head import slowdown

        return slowdown(chosen.times, chosen.device)

    return run


def repeat(options: Options) -> Run:
    """The same files in processes of their own."""
    options.add_argument("times", nargs="?", type=int, default=10)
    options.add_argument("seconds", nargs="?", type=float, default=600.0)

    def run(chosen: Chosen) -> dict[str, Any]:
        from benchmarks.repeatability import repeat

        return repeat(_submit, Path(tempfile.mkdtemp()), chosen.times, chosen.seconds)

    return run


def constant(_: Options) -> Run:
    """What batches read beyond their spins."""

    def run(_: Chosen) -> dict[str, Any]:
        from benchmarks.ladder.constant import constants

        return constants()

    return run


def latency(_: Options) -> Run:
    """Seconds of the whole command."""

    def run(_: Chosen) -> dict[str, Any]:
        from benchmarks.latency import latency

        return latency()

    return run


def throughput(options: Options) -> Run:
    """Many files never built before, in one command."""
    options.add_argument("count", nargs="?", type=int, default=200)
    options.add_argument("--effort", choices=["quick", "verdict"], default="quick")
    _on_device(options)

    def run(chosen: Chosen) -> dict[str, Any]:
        from benchmarks.throughput import throughput

        return throughput(chosen.count, chosen.device, chosen.effort)

    return run


def returning(options: Options) -> Run:
    """Outputs that are returned against ones filled."""
    options.add_argument("--times", type=int, default=3)
    _on_device(options)

    def run(chosen: Chosen) -> dict[str, Any]:
        from benchmarks.head_to_head import head_to_head
        from benchmarks.returning import returning

        return returning(
            lambda a, b, problem: head_to_head(a, b, chosen.times, chosen.device, problem)
        )

    return run


def coverage(options: Options) -> Run:
    """How often intervals hold the truth; no GPU."""
    options.add_argument("--grades", type=int, default=400)

    def run(chosen: Chosen) -> dict[str, Any]:
        from benchmarks.coverage import covered

        return covered(chosen.grades)

    return run


def neighbours(options: Options) -> Run:
    """One card's scores beside others; 2 GPUs."""
    options.add_argument("companies", metavar="COMPANY", nargs="*", help="all without")
    options.add_argument("--cards", default="all", metavar="all|N,N")
    options.add_argument("--times", type=int, default=3, help="commands for each company")
    options.add_argument("--copies", type=int, default=3, help="of each file in a command")
    options.add_argument("--seconds", type=float, default=600.0, help="of each company")
    options.add_argument("--count", type=int, default=200, help="files for throughput; 0: none")

    def run(chosen: Chosen) -> dict[str, Any]:
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

    return run


def _of_others(options: Options) -> None:
    """Options of what grades other people's problems."""
    _on_device(options)
    options.add_argument("--cards", default="", metavar="all|N,N", help="the first without")
    options.add_argument("--jobs", type=int, default=1, metavar="N", help="at a time on each card")
    options.add_argument("--seconds", type=float, default=600.0)
    options.add_argument(
        "--known", type=Path, action="append", default=[], metavar="FILE", help="an earlier --json"
    )


def field(options: Options) -> Run:
    """References of other people's problems; a checkout."""
    options.add_argument(
        "paths", metavar="PATH", nargs="+", type=Path, help="a checkout's problems"
    )
    options.add_argument("--timed", action="store_true", help="take times, too")
    options.add_argument("--part", default="1/1", metavar="N/M")
    options.add_argument(
        "--memory", type=float, metavar="GIB", help="of the card, the rest is held"
    )
    _of_others(options)

    def run(chosen: Chosen) -> dict[str, Any]:
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

    return run


def published(options: Options) -> Run:
    """Kernels that others have published; a file."""
    options.add_argument("file", metavar="FILE", type=Path, help="JSON lines, one for each")
    options.add_argument("problems", metavar="PROBLEMS", type=Path, help="a checkout")
    options.add_argument(
        "--beside", type=Path, metavar="CHECKOUT", help="KernelBench's, whose evaluation runs, too"
    )
    options.add_argument("--beside-seconds", type=float, default=120.0)
    _of_others(options)

    def run(chosen: Chosen) -> dict[str, Any]:
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

    return run


def fusion(options: Options) -> Run:
    """What fusion gains, predicted and measured."""
    options.add_argument("problems", metavar="PROBLEM", nargs="*", help="all without")
    options.add_argument("--dtype", help="float16 without, or a problem's first")
    options.add_argument(
        "--results", type=Path, action="append", default=[], metavar="FILE", help="graded already"
    )
    options.add_argument("--profiles", type=Path, metavar="FILE", help="--json of an earlier run")
    options.add_argument("--seconds", type=float, default=400.0, help="on the card, but for grades")

    def run(chosen: Chosen) -> dict[str, Any]:
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

    return run


def audits(options: Options) -> Run:
    """What the audits see."""
    options.add_argument("names", nargs="*")

    def run(chosen: Chosen) -> dict[str, Any]:
        from benchmarks.audits import audits

        return audits(chosen.names)

    return run


BENCHMARKS = (
    accuracy, aa, slowdown, repeat, constant, latency, throughput, returning, coverage, neighbours,
    field, published, fusion, audits,
)  # fmt: skip


def _submit(*arguments: str) -> Any:
    return harness("submit", *arguments)[1]


def main() -> None:
    """One benchmark, by name."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", dest="json_to", metavar="FILE", help="write what was measured")
    commands = parser.add_subparsers(dest="what", required=True)
    for each in BENCHMARKS:
        options = commands.add_parser(each.__name__, help=each.__doc__)
        options.set_defaults(run=each(options))
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
