"""What the time of this harness is worth, on the card at hand: accuracy, repeatability, latency.

`accuracy` compares the judge's time per call with CUPTI's duration of the same kernels (a process
of its own, torch's profiler, fresh buffers for every call as in the judge). `repeat` grades the
same file twice. `latency` times the whole command, cold and for a second file. Prints tables;
asserts nothing.
"""

import argparse
import ctypes
import itertools
import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SLUG = "gemm-multiply-leakyrelu"
SAMPLES = ROOT / "solutions" / SLUG / "samples"
SHAPES = [
    ("tiled.cu", {"m": 64, "n": 64, "k": 256}),
    ("tiled.cu", {"m": 256, "n": 256, "k": 256}),
    ("tiled.cu", {"m": 512, "n": 512, "k": 512}),
    ("naive.cu", {"m": 512, "n": 512, "k": 512}),
    ("tiled.cu", {"m": 1024, "n": 1024, "k": 1024}),
    ("register_blocked.cu", {"m": 2048, "n": 2048, "k": 2048}),
    ("register_blocked.cu", {"m": 4096, "n": 4096, "k": 4096}),
    ("tiled.cu", {"m": 4096, "n": 4096, "k": 16}),
]


def accuracy() -> None:
    """Time per call by the judge over CUPTI's kernel duration."""
    from harness.grade import Grader, Job, Options
    from harness.judge.batch import lay_out
    from harness.judge.device import open_device
    from harness.judge.measure import Contender, Effort, join, measure_shape
    from harness.judge.programs import timed_program
    from harness.judge.session import Session
    from harness.judge.task import Task
    from harness.problem.draws import benchmark_case
    from harness.problem.load import find_problem
    from harness.problem.reference import Reference
    from harness.record import Draft, solution_ref
    from harness.report.progress import Silent
    from harness.solution.read import read_solution

    device = open_device("cuda")
    problem = find_problem(ROOT / "problems", SLUG)
    task = Task(problem, Reference(problem), "float32", device, "accuracy")
    rows = []
    with Grader(device, Silent()) as grader:
        constants = grader._trusted.constants()
        for file, sizes in SHAPES:
            solution = read_solution(SAMPLES / file)
            job = Job(path=file, solution=solution, problem=problem)
            artifact = grader._build(job, Draft(task, solution_ref(solution)), Options())
            case = benchmark_case(problem, {**sizes, "alpha": 0.01})
            with Session(timed_program(artifact), device, problem.limits) as session:
                failed = session.load()
                assert failed is None, failed
                contender = join(session, session.load, task, case)
                trusted = grader._trusted.baseline(task)
                baseline = Contender(trusted, task, trusted=True, capture=True)
                measured = measure_shape(
                    task, case, contender, baseline, Effort(), constants, lambda: None
                )
            contender.release()
            baseline.release()
            layout = lay_out(task, case, measured.calls_per_batch)
            places = [(s.base, s.stride) for s in layout.slots]
            cupti = cupti_seconds(artifact.library, sizes, layout.calls, layout.size, places)
            rows.append((file, sizes, measured, cupti))
    print(f"constant of a batch: {constants.batch_s * 1e6:.0f} µs")
    print("kernel | shape | calls | CUPTI µs | judge µs | judge/CUPTI | ± | captured")
    for file, sizes, measured, cupti in rows:
        value = measured.time_s.value
        half = measured.time_s.high / value - 1
        print(
            f"{file} | {sizes['m']}×{sizes['n']}×{sizes['k']} | {measured.calls_per_batch} | "
            f"{cupti * 1e6:.2f} | {value * 1e6:.2f} | {value / cupti - 1:+.1%} | ±{half:.1%} | "
            f"{measured.captured}"
        )


def cupti_seconds(
    library: Path, sizes: dict[str, int], calls: int, size: int, places: list[tuple[int, int]]
) -> float:
    """Mean kernel duration per call as CUPTI sees it, in a process of its own, same addresses."""
    given = json.dumps([str(library), sizes, calls, size, places])
    command = [sys.executable, __file__, "cupti", given]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def cupti(given: str) -> None:
    """Runs in the child: the calls of one batch under torch's profiler."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    library, sizes, calls, size, places = json.loads(given)
    m, n, k = sizes["m"], sizes["n"], sizes["k"]
    solution = ctypes.CDLL(library).solution
    arena = torch.empty(size // 4, device="cuda").normal_()
    flush = torch.empty(64 << 20, device="cuda")

    def run() -> None:
        flush.fill_(1.0)
        torch.cuda.synchronize()
        for call in range(calls):
            a, b, c, o = (arena.data_ptr() + base + call * stride for base, stride in places)
            solution(
                ctypes.c_void_p(a), ctypes.c_void_p(b), ctypes.c_void_p(c), ctypes.c_float(0.01),
                ctypes.c_void_p(o), ctypes.c_size_t(m), ctypes.c_size_t(n), ctypes.c_size_t(k),
            )  # fmt: skip
        torch.cuda.synchronize()

    start = time.perf_counter()
    while time.perf_counter() - start < 0.7:
        run()
    with profile(activities=[ProfilerActivity.CUDA]) as prof:
        run()
    total = sum(
        e.device_time_total
        for e in prof.events()
        if "fill" not in e.name.lower()
        and "mem" not in e.name.lower()
        and e.device_type.name == "CUDA"
    )
    print(total * 1e-6 / calls)


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


SPIN = """
__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n, long long cycles) {{
    const long long start = clock64();
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
    while (blockIdx.x == 0 && clock64() - start < cycles) {{
    }}
}}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {{
    add<<<unsigned((n + 255) / 256), 256>>>(x, y, z, n, {cycles});
}}
"""
"""A sum that takes as long as it is told, well above what it needs."""


def repeat(times: int = 10, seconds: float = 600.0) -> None:
    """Grade the same files again and again, in processes of their own; how far scores scatter.

    No new round begins after ``seconds``. Two of the files differ by an injected slow-down of 1 %:
    how often the slower one is ranked below.
    """
    import numpy as np

    from leaderboard.ties import beats, standard_errors

    folder = Path(tempfile.mkdtemp()) / "solutions" / "vector-add" / "spin"
    folder.mkdir(parents=True)
    cycles = 2_000_000
    (folder / "spin.cu").write_text(SPIN.format(cycles=cycles))
    (folder / "spin_1_percent_slower.cu").write_text(SPIN.format(cycles=round(1.01 * cycles)))
    solutions = ROOT / "solutions"
    files = [
        *sorted(folder.glob("*.cu")),
        solutions / "vector-add/samples/naive.cu",
        solutions / "softmax/samples/block_per_row.cu",
    ]
    scores: dict[str, list[dict[str, float]]] = {}
    store = str(folder / "repeat.sqlite")
    start = time.perf_counter()
    for _ in range(times):
        if time.perf_counter() - start > seconds:
            break
        for result in harness("submit", *map(str, files), "--store", store)[1]:
            name = f"{result['problem']['slug']}/{result['solution']['name']}"
            if result["score"]:
                scores.setdefault(name, []).append(
                    {**result["score"]["speedup"], "ranked": result["score"]["ranked"]}
                )
                if not result["score"]["ranked"]:
                    print(f"{name}: {result['score']['unranked_reason'][:90]}")
            else:
                print(f"{name}: {result['verdict']} {result['message'][:90]}")
    print("solution | grades | ranked | median speed-up | ± (median) | σ of log score | largest")
    for name, found in scores.items():
        logs = [math.log(one["value"]) for one in found]
        half = statistics.median(one["high"] / one["value"] - 1 for one in found)
        spread = statistics.stdev(logs) if len(logs) > 1 else math.nan
        most = max(abs(x - statistics.median(logs)) for x in logs)
        print(
            f"{name} | {len(found)} | {sum(bool(o['ranked']) for o in found)} | "
            f"{math.exp(statistics.median(logs)):.4f} | ±{half:.2%} | {spread:.3%} | {most:.2%}"
        )
    fast, slow = (
        scores.get("vector-add/spin", []),
        scores.get("vector-add/spin_1_percent_slower", []),
    )
    told = [
        bool(
            beats(
                math.log(a["value"]),
                float(standard_errors(np.array([a["low"]]), np.array([a["high"]]))[0]),
                np.array([math.log(b["value"])]),
                standard_errors(np.array([b["low"]]), np.array([b["high"]])),
            )[0]
        )
        for a in fast
        for b in slow
    ]
    print(f"1 % slower: ranked below in {sum(told)} of {len(told)} pairs of grades")
    for kind, found in (("the same", fast), ("the slower", slow)):
        pairs = [
            abs(math.log(a["value"] / b["value"])) <= 0.005
            for a, b in itertools.combinations(found, 2)
        ]
        print(f"{kind} file against itself: within 0.5 % in {sum(pairs)} of {len(pairs)} pairs")


def latency() -> None:
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


def audits(names: list[str]) -> None:
    """What the audits see of every solution: a call alone and among others, probes, light."""
    from dataclasses import replace

    from harness.grade import Grader
    from harness.job import Job, Options
    from harness.judge import audit
    from harness.judge.device import open_device
    from harness.problem.load import load_problem
    from harness.report.progress import Silent
    from harness.solution.read import read_solution

    shapes = ({"m": 256, "n": 256, "k": 256, "alpha": 0.01},)
    probes: list[tuple[float, float]] = []
    plain_fault = audit.Idleness.fault

    def told(self: audit.Idleness) -> object:
        if len(self.before) >= 3:
            probes.append((statistics.median(self.before), statistics.median(self.after)))
        return plain_fault(self)

    audit.Idleness.fault = told  # type: ignore[assignment,method-assign]
    hostile = sorted((ROOT / "tests/hostile/timing").glob("*.cu"))
    files = [(f, SLUG) for f in hostile] + [
        (f, f.parts[-3])
        for f in sorted((ROOT / "solutions").glob("*/samples/*"))
        if f.suffix in (".cu", ".py")
    ]
    if names:
        files = [(f, slug) for f, slug in files if slug in names or f.stem in names]
    print(
        "file | shape | alone/among | alone - among, µs | ± | of light | S | probes, µs | captured"
    )
    with Grader(open_device("cuda"), Silent()) as grader:
        usual = grader._trusted.constants()
        print(f"constant {usual.batch_s * 1e6:.0f} µs, {usual.usual}")
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
            for m, seen in itertools.zip_longest(result.measurements, probes):
                early, late = seen or (math.nan, math.nan)
                if m is None:
                    print(f"   probes {early * 1e6:.0f} {late * 1e6:.0f}")
                    continue
                among = m.time_s.value
                alone = m.alone_s.value if m.alone_s else math.nan
                half = m.alone_s.high - alone if m.alone_s else math.nan
                print(
                    f"   {m.spec[:40]} | {among * 1e6:.1f} µs | {alone / among:.3f} | "
                    f"{(alone - among) * 1e6:+.1f} | {half * 1e6:.1f} | {m.of_light or 0:.2f} | "
                    f"{m.light_score or 0:.2f} | {early * 1e6:.0f} {late * 1e6:.0f} | {m.captured}"
                )


def main() -> None:
    """One benchmark, by name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["accuracy", "repeat", "latency", "audits", "cupti"])
    parser.add_argument("rest", nargs="*")
    chosen = parser.parse_args()
    if chosen.what == "cupti":
        cupti(chosen.rest[0])
    elif chosen.what == "repeat":
        repeat(*map(int, chosen.rest))
    elif chosen.what == "audits":
        audits(chosen.rest)
    else:
        {"accuracy": accuracy, "latency": latency}[chosen.what]()


if __name__ == "__main__":
    main()
