"""What the time of this harness is worth, on the card at hand: accuracy, repeatability, latency.

`accuracy` compares the judge's time per call with CUPTI's duration of the same kernels, with CUDA
events and with Triton's `do_bench`, all three in a process of its own, on a ladder of kernels from
2 µs to 2 ms. `aa` compares a file with itself, `slowdown` with one that takes 1 % longer, again and
again. `repeat` grades the same files in processes of their own. `constant` shows what batches read
beyond the spins in them. `latency` times the whole command, cold and for a second file.
`throughput` grades many files in one command and says where the time goes. `neighbours` shows what
cards and processors beside one do to its scores, and how many files all cards grade. `field` grades
the references of other people's problems as submissions to them. `fusion` holds steps that are
fused against the same unfused, by the roofline and by the judge. `audits` shows what the audits
see. Prints tables, and with --json FILE writes what they are made of; asserts
nothing.
"""

import argparse
import itertools
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import ROOT

Data = dict[str, Any]

PATH = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
SLUG = "gemm-multiply-leakyrelu"
SAMPLES = ROOT / "solutions" / SLUG / "samples"


def accuracy(device_kind: str = "cuda", wanted: Sequence[str] = ()) -> Data:
    """Time per call by the judge, and by three other clocks in an honest process.

    ``wanted`` are kinds of rungs, such as ``spin`` or ``gemm``; all without.
    """
    from benchmarks.ladder.judge import time_rung
    from benchmarks.ladder.rungs import rungs
    from benchmarks.ladder.table import bias, lines, summary
    from harness.device.choose import open_device
    from harness.errors import MachineError
    from harness.grading.grader import Grader
    from harness.progress.progress import NoProgress
    from harness.timing.budget import budget_for

    folder = Path(tempfile.mkdtemp())
    device = open_device(device_kind)
    budget = budget_for(device)
    rows, calls = [], []
    with Grader(device, NoProgress()) as grader:
        overhead = grader.benchmark.trusted.overhead(None)
        for rung in rungs(folder):
            if wanted and rung.kind not in wanted:
                continue
            try:
                row, call = time_rung(grader, device, rung, budget, overhead)
            except MachineError as error:
                print(f"{rung.name}: {str(error)[:300]}", file=sys.stderr)
                continue
            rows.append(row)
            calls.append(call)
            print(f"{rung.name}: {row['ours_s'] * 1e6:.2f} µs", file=sys.stderr)
    rows = [row | found for row, found in zip(rows, others(calls, folder), strict=True)]
    blank_s = overhead.batch_s if overhead else 0.0
    print(f"a null batch on small buffers: {blank_s * 1e6:.0f} µs")
    for line in (*lines(rows), *summary(rows)):
        print(line)
    return {"blank_s": blank_s, "rows": rows, "bias": bias(rows)}


def others(calls: list[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """What the other clocks say of each call; what is missing where their process ended early."""
    file = folder / "calls.json"
    file.write_text(json.dumps(calls))
    by_clocks, by_cupti = (honest(wanted, file, len(calls)) for wanted in ("clocks", "cupti"))
    return [one | other for one, other in zip(by_clocks, by_cupti, strict=True)]


def honest(wanted: str, file: Path, count: int) -> list[dict[str, Any]]:
    """What an honest process says of the calls in ``file``."""
    command = [sys.executable, "-P", str(ROOT / "benchmarks/ladder/honest.py"), wanted, str(file)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *PATH])}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, env=environment)
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    ended = {"error": f"the honest process ended with status {done.returncode}"}
    return found + [ended] * (count - len(found))


def harness(*arguments: str) -> tuple[float, list[dict[str, object]]]:
    """Run the command; seconds and the results it printed."""
    start = time.perf_counter()
    command = [sys.executable, "-c", "from harness.cli import main; main()", *arguments]
    done = subprocess.run(
        [*command, "--json", "-"], capture_output=True, text=True, cwd=ROOT, check=False
    )
    seconds = time.perf_counter() - start
    if done.returncode > 1:
        print(done.stderr, file=sys.stderr)
    return seconds, [json.loads(line) for line in done.stdout.splitlines()]


def aa(file: Path, times: int, device_kind: str) -> Data:
    """The same file as A and as B: how often the ratio is within 0.5 %, and no difference told."""
    from benchmarks.throughput import modest

    problem = None
    if file.resolve().parts[-3] == SLUG:
        problem = Path(tempfile.mkdtemp()) / SLUG
        modest(problem)
    found = head_to_head(file, file, times, device_kind, problem)
    ratios = [one["ratio"] for one in found]
    near = sum(abs(math.log(ratio["value"])) <= 0.005 for ratio in ratios)
    same = sum(one["faster"] is None for one in found)
    covered = sum(ratio["low"] <= 1 <= ratio["high"] for ratio in ratios)
    logs = [math.log(ratio["value"]) for ratio in ratios]
    spread = statistics.stdev(logs) if len(logs) > 1 else math.nan
    print(
        f"A/A, {file.name}: within ±0.5 % in {near} of {len(found)}, no difference told in {same}"
    )
    print(f"1 is within the interval in {covered} of {len(found)}; σ of the log ratio {spread:.3%}")
    return {"file": file.name, "ratios": ratios, "within": near, "no_difference": same}


def slowdown(times: int, device_kind: str) -> Data:
    """A kernel against the same one made 1 % slower: how often that is told, and by how much."""
    from benchmarks.repeatability import SLOWER, spin_problem, spins

    folder = Path(tempfile.mkdtemp())
    plain, slower = spins(folder / "files")
    found = head_to_head(plain, slower, times, device_kind, problem=spin_problem(folder))
    told = sum(one["faster"] == "A" for one in found)
    ratios = [one["ratio"] for one in found]
    print(f"{SLOWER - 1:.0%} slower: told in {told} of {len(found)}")
    if ratios:
        values = [1 / ratio["value"] - 1 for ratio in ratios]
        print(f"said to be {statistics.median(values):+.2%} slower in the median")
    return {"factor": SLOWER, "ratios": ratios, "told": told}


def head_to_head(
    a: Path, b: Path, times: int, device_kind: str, problem: Path | None = None
) -> list[Data]:
    """``harness compare a b`` so many times, each with a seed of its own, in one process."""
    from harness.device.choose import open_device
    from harness.grading.grader import Grader
    from harness.grading.job import Job, Options
    from harness.languages.read import read_solution
    from harness.problem.format.load import load_problem
    from harness.progress.progress import NoProgress
    from harness.records.comparison import Comparison

    loaded = load_problem(problem or ROOT / "problems" / a.resolve().parts[-3])
    jobs = [
        Job(path=str(f), solution=read_solution(f, problem=loaded.slug), problem=loaded)
        for f in (a, b)
    ]
    found: list[Data] = []
    with Grader(open_device(device_kind), NoProgress()) as grader:
        for _ in range(times):
            outcome = grader.compare(jobs[0], jobs[1], Options())
            if isinstance(outcome, Comparison):
                told = json.loads(outcome.to_json())
                ratio = told["ratio"]
                found.append({"ratio": ratio, "faster": told["faster"]})
                print(f"A / B {ratio['value']:.4f}, {told['faster']}", file=sys.stderr)
            else:
                print(f"{outcome[0].verdict}: {outcome[0].message[:200]}", file=sys.stderr)
    return found


def constant() -> Data:
    """What batches of spins read beyond the spins, which should be the launches alone."""
    from benchmarks.ladder.constant import constant, line
    from harness.device.choose import open_device
    from harness.grading.grader import Grader
    from harness.progress.progress import NoProgress

    rows = []
    device = open_device("cuda")
    with Grader(device, NoProgress()) as grader:
        for row in constant(grader, device, Path(tempfile.mkdtemp())):
            print(line(row), flush=True)
            rows.append(row)
    return {"rows": rows}


def latency() -> Data:
    """Seconds of the whole command: cold, a second file in the same call, and again."""
    folder = Path(tempfile.mkdtemp()) / SLUG / "someone"
    folder.mkdir(parents=True)
    files = []
    for number in range(5):
        file = folder / f"copy{number}.cu"
        text = (SAMPLES / "tiled.cu").read_text()
        file.write_text(f"{text}\n// {time.time()} {number}: never built before\n")
        files.append(str(file))
    store = str(folder / "s.sqlite")
    common = ("--problem", SLUG, "--store", store)
    first, _ = harness("check", str(SAMPLES / "naive.cu"))
    one, _ = harness("submit", files[0], *common)
    three, results = harness("submit", *files[1:], *common)
    ends = [datetime.fromisoformat(str(r["created"])) for r in results]
    further = [(b - a).total_seconds() for a, b in itertools.pairwise(ends)]
    checked, _ = harness("check", files[0], "--problem", SLUG)
    print(f"check, the first command after boot: {first:.1f} s")
    print(f"submit, one CUDA file never built before: {one:.1f} s")
    print(
        f"submit, four more: {three:.1f} s, the second and later "
        + ", ".join(f"{s:.1f}" for s in further)
        + " s each"
    )
    print(f"check, built before: {checked:.1f} s")
    return {
        "first_check_s": first,
        "new_file_s": one,
        "further_files_s": further,
        "check_again_s": checked,
    }


def audits(names: Sequence[str]) -> Data:
    """What the audits see of every solution: a call alone and among others, probes, light."""
    from dataclasses import replace

    from harness.device.choose import open_device
    from harness.grading.grader import Grader
    from harness.grading.job import Job, Options
    from harness.languages.read import read_solution
    from harness.problem.format.load import load_problem
    from harness.progress.progress import NoProgress
    from harness.solution.suffixes import SOURCES
    from harness.timing import audit

    shapes = ({"m": 256, "n": 256, "k": 256, "alpha": 0.01},)
    graded: list[Data] = []
    probes: list[tuple[float, float]] = []
    plain_fault = audit.IdleMonitor.fault

    def told(self: audit.IdleMonitor) -> object:
        if len(self.before) >= 3:
            probes.append((statistics.median(self.before), statistics.median(self.after)))
        return plain_fault(self)

    audit.IdleMonitor.fault = told  # type: ignore[assignment,method-assign]
    hostile = [
        f
        for f in sorted((ROOT / "tests/hostile/timing").glob("*.cu"))
        if f"problem: {SLUG}" in f.read_text()
    ]
    files = [(f, SLUG) for f in hostile] + [
        (f, f.parts[-3])
        for f in sorted((ROOT / "solutions").glob("*/samples/*"))
        if f.suffix in SOURCES
    ]
    if names:
        files = [(f, slug) for f, slug in files if slug in names or f.stem in names]
    print(
        "file | shape | alone/among | alone - among, µs | ± | of light | S | probes, µs | captured "
        "| looks"
    )
    device = open_device("cuda")
    with Grader(device, NoProgress()) as grader:
        overhead = grader.benchmark.trusted.overhead(None)
        assert overhead is not None
        print(f"null batch {overhead.batch_s * 1e6:.0f} µs, {overhead.idle}")
        for file, slug in files:
            problem = load_problem(ROOT / "problems" / slug)
            if file in hostile:
                problem = replace(problem, benchmarks=shapes)
            job = Job(path=file.name, solution=read_solution(file, problem=slug), problem=problem)
            probes.clear()
            start = time.perf_counter()
            result = grader.grade(job, Options(shrink_s=0.0))
            spent = time.perf_counter() - start
            print(f"{slug}/{file.name}: {result.verdict} {result.message[:150]} ({spent:.1f} s)")
            graded.append({"file": f"{slug}/{file.name}", "verdict": result.verdict, "s": spent})
            for m, seen in itertools.zip_longest(result.measurements, probes):
                early, late = seen or (math.nan, math.nan)
                if m is None:
                    print(f"   probes {early * 1e6:.0f} {late * 1e6:.0f}")
                    continue
                among = m.time_s.value
                alone = m.isolated_s.value if m.isolated_s else math.nan
                half = m.isolated_s.high - alone if m.isolated_s else math.nan
                print(
                    f"   {m.spec[:40]} | {among * 1e6:.1f} µs "
                    f"| {alone / among:.3f} | "
                    f"{(alone - among) * 1e6:+.1f} | {half * 1e6:.1f} "
                    f"| {m.sol_fraction or 0:.2f} | "
                    f"{m.sol_score or 0:.2f} | {early * 1e6:.0f} {late * 1e6:.0f} | {m.captured} | "
                    f"{m.overlap_looks}"
                )
    return {"graded": graded}


def covered(grades: int) -> Data:
    """How often intervals hold the true ratio, under noise that is known."""
    from dataclasses import asdict

    from benchmarks.coverage import table
    from harness.timing.budget import TimingBudget

    full = TimingBudget()
    rows = table({"full": full, "quick": full.quick()}, grades=grades)
    return {"grades": grades, "rows": [asdict(row) for row in rows]}


def where() -> Data:
    """What a figure depends on: date, card, driver, versions."""
    from importlib import metadata

    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        said = subprocess.run(query, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        said = ""
    card, _, driver = (said.splitlines() or [""])[0].partition(", ")
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "card": card,
        "driver": driver,
        "torch": metadata.version("torch"),
        "triton": metadata.version("triton"),
    }


def main() -> None:
    """One benchmark, by name."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", dest="json_to", metavar="FILE", help="write what was measured")
    commands = parser.add_subparsers(dest="what", required=True)
    ladder = commands.add_parser("accuracy", help="the ladder; KIND: spin, copy, gemm, …")
    ladder.add_argument("kinds", metavar="KIND", nargs="*")
    same = commands.add_parser("aa", help="a file against itself")
    same.add_argument("file", nargs="?", type=Path, default=SAMPLES / "register_blocked.cu")
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
    many.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    both = commands.add_parser("returning", help="outputs that are returned against ones filled")
    both.add_argument("--times", type=int, default=3)
    both.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    noise = commands.add_parser("coverage", help="how often intervals hold the truth; no GPU")
    noise.add_argument("--grades", type=int, default=400)
    beside = commands.add_parser("neighbours", help="one card's scores beside others; 2 GPUs")
    beside.add_argument("companies", metavar="COMPANY", nargs="*", help="all without")
    beside.add_argument("--cards", default="all", metavar="all|N,N")
    beside.add_argument("--times", type=int, default=10)
    beside.add_argument("--seconds", type=float, default=600.0, help="of each company")
    beside.add_argument("--count", type=int, default=200, help="files for throughput; 0: none")
    others = commands.add_parser("field", help="references of other people's problems; a checkout")
    others.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="a checkout's problems")
    others.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    others.add_argument("--timed", action="store_true", help="take times, too")
    others.add_argument("--seconds", type=float, default=600.0)
    others.add_argument("--part", default="1/1", metavar="N/M")
    others.add_argument(
        "--known", type=Path, action="append", default=[], metavar="FILE", help="an earlier --json"
    )
    others.add_argument("--cards", default="", metavar="all|N,N", help="the first without")
    others.add_argument("--jobs", type=int, default=1, metavar="N", help="at a time on each card")
    others.add_argument("--memory", type=float, metavar="GIB", help="of the card, the rest is held")
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
            data = accuracy(chosen.device, chosen.kinds)
        case "aa":
            data = aa(chosen.file, chosen.times, chosen.device)
        case "slowdown":
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
            data = constant()
        case "latency":
            data = latency()
        case "throughput":
            from benchmarks.throughput import throughput

            data = throughput(chosen.count, chosen.device)
        case "returning":
            from benchmarks.returning import returning

            data = returning(
                lambda a, b, problem: head_to_head(a, b, chosen.times, chosen.device, problem)
            )
        case "neighbours":
            from benchmarks.neighbours import neighbours
            from harness.device.cards import choose_cards, visible_cards

            cards = [card.uuid for card in choose_cards(chosen.cards, visible_cards())]
            data = neighbours(
                cards, chosen.times, chosen.seconds, chosen.count, companies=chosen.companies
            )
        case "field":
            from benchmarks.field import field

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
            data = covered(chosen.grades)
        case _:
            data = audits(chosen.names)
    if chosen.json_to:
        told = {"what": chosen.what, **where(), **data}
        Path(chosen.json_to).write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
