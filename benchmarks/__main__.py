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
from pathlib import Path

from benchmarks import ROOT
from benchmarks.command import harness, where
from harness import signals
from harness.sandbox.ending import end_children

SAMPLE = ROOT / "solutions/gemm-multiply-leakyrelu/samples/register_blocked.cu"


def main() -> None:
    """One benchmark, by name."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", dest="json_to", metavar="FILE", help="write what was measured")
    commands = parser.add_subparsers(dest="what", required=True)
    ladder = commands.add_parser("accuracy", help="the ladder; KIND: spin, copy, gemm, …")
    ladder.add_argument("kinds", metavar="KIND", nargs="*")
    same = commands.add_parser("aa", help="a file against itself")
    same.add_argument("file", nargs="?", type=Path, default=SAMPLE)
    slower = commands.add_parser("slowdown", help="a kernel against one that takes 1 %% longer")
    for each in (same, slower):
        each.add_argument("--times", type=int, default=20)
    for each in (ladder, same, slower):
        each.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    graded = commands.add_parser("repeat", help="the same files in processes of their own")
    graded.add_argument("times", nargs="?", type=int, default=10)
    graded.add_argument("seconds", nargs="?", type=float, default=600.0)
    commands.add_parser("constant", help="what batches read beyond their spins")
    commands.add_parser("latency", help="seconds of the whole command")
    many = commands.add_parser("throughput", help="many files never built before, in one command")
    many.add_argument("count", nargs="?", type=int, default=200)
    many.add_argument("--effort", choices=["quick", "verdict"], default="quick")
    many.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    both = commands.add_parser("returning", help="outputs that are returned against ones filled")
    both.add_argument("--times", type=int, default=3)
    both.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    noise = commands.add_parser("coverage", help="how often intervals hold the truth; no GPU")
    noise.add_argument("--grades", type=int, default=400)
    beside = commands.add_parser("neighbours", help="one card's scores beside others; 2 GPUs")
    beside.add_argument("companies", metavar="COMPANY", nargs="*", help="all without")
    beside.add_argument("--cards", default="all", metavar="all|N,N")
    beside.add_argument("--times", type=int, default=3, help="commands for each company")
    beside.add_argument("--copies", type=int, default=3, help="of each file in a command")
    beside.add_argument("--seconds", type=float, default=600.0, help="of each company")
    beside.add_argument("--count", type=int, default=200, help="files for throughput; 0: none")
    others = commands.add_parser("field", help="references of other people's problems; a checkout")
    others.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="a checkout's problems")
    others.add_argument("--timed", action="store_true", help="take times, too")
    others.add_argument("--part", default="1/1", metavar="N/M")
    others.add_argument("--memory", type=float, metavar="GIB", help="of the card, the rest is held")
    theirs = commands.add_parser("published", help="kernels that others have published; a file")
    theirs.add_argument("file", metavar="FILE", type=Path, help="JSON lines, one for each")
    theirs.add_argument("problems", metavar="PROBLEMS", type=Path, help="a checkout")
    theirs.add_argument(
        "--beside", type=Path, metavar="CHECKOUT", help="KernelBench's, whose evaluation runs, too"
    )
    theirs.add_argument("--beside-seconds", type=float, default=120.0)
    for each in (others, theirs):
        each.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
        each.add_argument("--cards", default="", metavar="all|N,N", help="the first without")
        each.add_argument("--jobs", type=int, default=1, metavar="N", help="at a time on each card")
        each.add_argument("--seconds", type=float, default=600.0)
        each.add_argument(
            "--known", type=Path, action="append", default=[], metavar="FILE",
            help="an earlier --json",
        )  # fmt: skip
    fused = commands.add_parser("fusion", help="what fusion gains, predicted and measured")
    fused.add_argument("problems", metavar="PROBLEM", nargs="*", help="all without")
    fused.add_argument("--dtype", help="float16 without, or a problem's first")
    fused.add_argument(
        "--results", type=Path, action="append", default=[], metavar="FILE", help="graded already"
    )
    fused.add_argument("--profiles", type=Path, metavar="FILE", help="--json of an earlier run")
    fused.add_argument("--seconds", type=float, default=400.0, help="on the card, but for grades")
    commands.add_parser("audits", help="what the audits see").add_argument("names", nargs="*")
    chosen = parser.parse_args()
    match chosen.what:
        case "accuracy":
            from benchmarks.ladder.clocks import accuracy

            data = accuracy(chosen.device, chosen.kinds)
        case "aa":
            from benchmarks.head_to_head import aa

            data = aa(chosen.file, chosen.times, chosen.device)
        case "slowdown":
            from benchmarks.head_to_head import slowdown

            data = slowdown(chosen.times, chosen.device)
        case "repeat":
            from benchmarks.repeatability import repeat

            data = repeat(
                lambda *arguments: harness("submit", *arguments)[1],
                Path(tempfile.mkdtemp()),
                chosen.times,
                chosen.seconds,
            )
        case "constant":
            from benchmarks.ladder.constant import constants

            data = constants()
        case "latency":
            from benchmarks.latency import latency

            data = latency()
        case "throughput":
            from benchmarks.throughput import throughput

            data = throughput(chosen.count, chosen.device, chosen.effort)
        case "returning":
            from benchmarks.head_to_head import head_to_head
            from benchmarks.returning import returning

            data = returning(
                lambda a, b, problem: head_to_head(a, b, chosen.times, chosen.device, problem)
            )
        case "neighbours":
            from benchmarks.neighbours import neighbours
            from harness.device.cards import choose_cards, visible_cards

            cards = [card.uuid for card in choose_cards(chosen.cards, visible_cards())]
            data = neighbours(
                cards,
                chosen.times,
                chosen.seconds,
                chosen.count,
                copies=chosen.copies,
                companies=chosen.companies,
            )
        case "field":
            from benchmarks.field.collect import field

            data = field(
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
        case "published":
            from benchmarks.published import published

            data = published(
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
        case "fusion":
            from benchmarks.fusion.collect import fusion

            data = fusion(
                chosen.problems,
                card=where()["card"],
                submit=lambda *arguments: harness("submit", *arguments)[1],
                dtype=chosen.dtype,
                results=chosen.results,
                profiles=chosen.profiles,
                seconds=chosen.seconds,
            )
        case "coverage":
            from benchmarks.coverage import covered

            data = covered(chosen.grades)
        case _:
            from benchmarks.audits import audits

            data = audits(chosen.names)
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
