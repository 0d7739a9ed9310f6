"""The accuracy ladder, as far as it goes without a GPU: what is on it, binding, the table."""

import functools
import json
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks.__main__ import BENCHMARKS
from benchmarks.ladder import clocks, honest
from benchmarks.ladder.constant import constant
from benchmarks.ladder.judge import time_rung
from benchmarks.ladder.rungs import COPY, Rung, rungs, spin_source, wait_source
from benchmarks.ladder.table import bias, lines, summary
from harness.device.cpu import CpuDevice
from harness.errors import MachineError
from harness.grading.grader import Grader
from harness.languages.read import read_solution
from harness.problem.case import whole_case
from harness.problem.format.load import load_problem
from harness.progress.progress import NoProgress
from harness.solution.model import Solution
from harness.timing.budget import CPU_BUDGET

ROOT = Path(__file__).parents[2]
KINDS = {"spin", "copy", "elementwise", "gemm", "library", "chain", "triton"}


def test_every_rung_is_a_file_for_a_case_of_its_problem(tmp_path: Path) -> None:
    found = list(rungs(tmp_path))
    assert {rung.kind for rung in found} == KINDS
    assert len({rung.name for rung in found}) == len(found)
    for rung in found:
        problem = load_problem(rung.problem)
        assert problem.complete, problem.missing
        assert "float32" in problem.dtypes
        assert whole_case(problem, dict(rung.values)).values
        solution = read_solution(rung.file, problem=problem.slug)
        assert isinstance(solution, Solution)
        assert solution.dtypes is None or "float32" in solution.dtypes


def test_waits_differ_in_their_time_alone() -> None:
    assert "< 4321)" in wait_source(4321)
    assert wait_source(1).replace("< 1)", "< 2)") == wait_source(2)


def test_spins_differ_in_their_cycles_alone() -> None:
    assert "< 4321)" in spin_source(4321)
    assert spin_source(1).replace("< 1)", "< 2)") == spin_source(2)


@pytest.fixture(scope="module")
def timed() -> tuple[dict[str, Any], dict[str, Any]]:
    """A rung of PyTorch's own copy, timed on the CPU by real processes."""
    rung = Rung(
        kind="library", name="torch", file=COPY / "baseline.py", problem=COPY, values={"n": 1000}
    )
    with Grader(CpuDevice(), NoProgress()) as grader:
        return time_rung(grader, CpuDevice(), rung, CPU_BUDGET, None)


@pytest.mark.corpus
def test_a_rung_is_timed_by_the_judge(timed: tuple[dict[str, Any], dict[str, Any]]) -> None:
    row, call = timed
    assert row["kernel"] == "torch"
    assert 0 < row["low_s"] <= row["ours_s"] <= row["high_s"]
    assert row["calls"] == call["calls"] >= 1
    text = json.dumps([row, call])
    assert json.dumps(json.loads(text)) == text


@pytest.mark.corpus
def test_the_honest_process_makes_the_same_calls(
    timed: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    call = timed[1]
    arena = torch.randint(0, 100, (call["bytes"],), dtype=torch.uint8)
    run = honest.bind(call, arena)
    x, y, n = call["arguments"]
    assert n["value"] == 1000
    for index in (0, call["calls"] - 1):
        run(index)
        source, target = (s["base"] + index * s["stride"] for s in (x, y))
        assert torch.equal(arena[source : source + 4000], arena[target : target + 4000])


def test_a_library_gets_its_arguments(tmp_path: Path) -> None:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler here")
    (tmp_path / "s.c").write_text(
        "#include <stddef.h>\n"
        "void solution(const float* x, float a, float* y, size_t n) {\n"
        "  for (size_t i = 0; i < n; ++i) y[i] = a * x[i];\n"
        "}\n"
    )
    library = tmp_path / "s.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, tmp_path / "s.c"], check=True)
    tensor = {"stride": 64, "bytes": 40, "shape": [10], "strides": [1], "dtype": "float32"}
    call = {
        "library": str(library),
        "source": None,
        "calls": 2,
        "bytes": 256,
        "arguments": [
            {"base": 0} | tensor,
            {"ctype": "float", "value": 2.5},
            {"base": 128} | tensor,
            {"ctype": "size_t", "value": 10},
        ],
    }
    arena = torch.arange(64, dtype=torch.float32).view(torch.uint8)
    honest.bind(call, arena)(1)
    values = arena.view(torch.float32)
    assert torch.equal(values[48:58], 2.5 * values[16:26])
    assert values[32] == 32.0  # the first call's output was left alone


@pytest.mark.corpus
@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_call_that_fails_costs_its_own_line_alone(
    timed: tuple[dict[str, Any], dict[str, Any]], tmp_path: Path
) -> None:
    first, second = clocks.others([timed[1]] * 2, tmp_path)
    assert set(first) == set(second) == {"error"}
    assert "CUDA" in first["error"]


def test_a_kernel_that_does_not_build_is_an_error_of_its_rung(tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text("def solution(:")
    rung = Rung(kind="copy", name="broken", file=file, problem=COPY, values={"n": 10})
    with (
        Grader(CpuDevice(), NoProgress()) as grader,
        pytest.raises(MachineError, match="invalid syntax"),
    ):
        time_rung(grader, CpuDevice(), rung, CPU_BUDGET, None)


def _row(kernel: str, cupti: float | None, ours: float, events: float, bench: float) -> Any:
    row = {
        "kernel": kernel, "calls": 10, "captured": True, "ours_s": ours, "low_s": ours * 0.99,
        "high_s": ours * 1.01, "clock_mhz": (1965, 1980), "cupti_mhz": [1980, 1980],
    }  # fmt: skip
    if cupti is None:
        return row | {"error": "no CUPTI"}
    others = {"graph_s": cupti * 1.1, "clock": 1.0, "events_s": events, "do_bench_s": bench}
    return row | {"cupti_s": cupti} | others


ROWS = [
    _row("short", 2e-6, 2.2e-6, 5e-6, 4e-6),
    _row("long", 100e-6, 101e-6, 103e-6, 99.5e-6),
    _row("longer", 200e-6, 199e-6, 203e-6, 204e-6),
    _row("lost", None, 1e-6, 0, 0),
]


def test_the_table_shows_each_clock_and_how_far_it_is_off() -> None:
    table = list(lines(ROWS))
    assert table[1].startswith(
        "short | 2.00 | 2.20 (ours +0.0%) | 2.20 (+10.0%) | 5.00 (+150.0%) | 4.00"
    )
    assert table[1].endswith("1.0% | 10 | yes | 1965–1980, 1980, ?")
    assert table[4] == "lost | no CUPTI"
    widths = {len(line.split(" | ")) for line in table[:4]}
    assert widths == {10}


def test_bias_is_in_parts_of_long_kernels_and_seconds_of_short_ones() -> None:
    found = bias(ROWS)
    assert found["judge"]["long_median"] == pytest.approx(0.0025)
    assert found["judge"]["long_worst"] == pytest.approx(0.01)
    assert found["judge"]["short_worst_s"] == pytest.approx(0.2e-6)
    assert found["events"]["long_worst"] == pytest.approx(0.03)
    assert found["do_bench"]["long_worst"] == pytest.approx(0.02)
    assert [found[name]["best"] for name in ("judge", "events", "do_bench")] == [2, 0, 1]
    assert len(list(summary(ROWS))) == 4
    assert "-8.86% in the median" in list(summary(ROWS))[-1]


def test_without_rungs_there_is_no_bias() -> None:
    assert all(math.isnan(found["long_median"]) for found in bias([]).values())
    assert bias([])["judge"]["best"] == 0


def test_there_is_no_constant_without_a_gpu(tmp_path: Path) -> None:
    with (
        Grader(CpuDevice(), NoProgress()) as grader,
        pytest.raises(MachineError, match="without a GPU"),
    ):
        next(constant(grader, CpuDevice(), tmp_path))


class TestGpuCheck:
    script = ROOT / "scripts/gpu_check"

    def test_an_unknown_step_is_refused(self) -> None:
        done = subprocess.run([self.script, "bench-nothing"], capture_output=True, text=True)
        assert done.returncode == 2
        assert "bench-nothing is no step" in done.stderr

    def test_its_steps_are_those_that_it_names(self) -> None:
        text = self.script.read_text()
        named, extra = (
            re.search(rf'^{what}="([^"]*)"', text, re.MULTILINE) for what in ("steps", "extra")
        )
        assert named is not None and extra is not None
        assert extra[1].split() == ["bench-neighbours", "bench-field", "bench-published"]
        run = re.findall(r"^side (\w+) ", text, re.MULTILINE)
        run += [f"bench-{name}" for name in re.findall(r"^bench (\w+) ", text, re.MULTILINE)]
        assert set(run) == {*named[1].split(), *extra[1].split()}

    def test_one_step_alone(self, tmp_path: Path) -> None:
        """With a python that only tells what it was given."""
        python = tmp_path / "python"
        python.write_text('#!/bin/sh\necho given: "$@"\n')
        python.chmod(0o755)
        environment = {**os.environ, "GPU_CHECK_OUT": str(tmp_path / "out")}
        done = subprocess.run(
            [self.script, python, "bench-aa"], capture_output=True, text=True, env=environment
        )
        assert done.returncode == 0, done.stderr
        given = [line for line in done.stdout.splitlines() if line.startswith("given: ")]
        assert given == [f"given: -m benchmarks --json {tmp_path}/out/aa.json aa --times 20"]

    def test_what_needs_more_than_a_gpu_runs_by_name_alone(self, tmp_path: Path) -> None:
        python = tmp_path / "python"
        python.write_text('#!/bin/sh\necho given: "$@"\n')
        python.chmod(0o755)
        out = str(tmp_path / "out")
        environment = {**os.environ, "GPU_CHECK_OUT": out, "GPU_CHECK_FIELD": "a/one b/other"}
        run = functools.partial(
            subprocess.run, capture_output=True, text=True, env=environment, check=True
        )
        every = run([self.script, python]).stdout
        assert "bench-aa" in every and "published" not in every and "field" not in every
        (given,) = re.findall(r"(?m)^given: (.*)", run([self.script, python, "bench-field"]).stdout)
        assert given.endswith("--known docs/data/field-h100.json a/one b/other")

    def test_tests_run_side_by_side_on_several_cards(self, tmp_path: Path) -> None:
        tools = {
            "nvidia-smi": 'case $1 in --list-gpus) echo "GPU 0: one"; echo "GPU 1: two" ;; esac',
            "python": 'echo card "$CUDA_VISIBLE_DEVICES" given: "$@"; sleep 0.3',
        }
        for name, text in tools.items():
            (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
            (tmp_path / name).chmod(0o755)
        out, path = str(tmp_path / "out"), f"{tmp_path}:{os.environ['PATH']}"
        done = subprocess.run(
            [self.script, "tests", "hostile", "timed", "python"],
            capture_output=True,
            text=True,
            env={**os.environ, "GPU_CHECK_OUT": out, "PATH": path},
        )
        assert done.returncode == 0, done.stderr
        given = re.findall(r"(?m)^card (\d) given: .*?(not timed|hostile$|ignore)", done.stdout)
        assert sorted(given) == [("0", "hostile"), ("0", "not timed"), ("1", "ignore")]
        assert re.search(r"(?m)^hostile +ok", done.stdout)

    def test_what_a_step_has_found_is_told_at_its_limit(self, tmp_path: Path) -> None:
        python = tmp_path / "python"
        python.write_text(
            f"#!{sys.executable}\nimport time\n"
            "try: time.sleep(60)\nexcept KeyboardInterrupt: print('one failed')\n"
        )
        python.chmod(0o755)
        limit = {"GPU_CHECK_OUT": str(tmp_path / "out"), "GPU_CHECK_LIMIT": "1"}
        done = subprocess.run(
            [self.script, python, "bench-aa"],
            capture_output=True,
            text=True,
            env=os.environ | limit,
        )
        assert done.returncode == 1
        assert re.search(r"(?m)^bench-aa +exit 124 +\d s +one failed$", done.stdout), done.stdout

    def test_its_benchmarks_are_commands(self) -> None:
        text = self.script.read_text()
        commands = {each.__name__ for each in BENCHMARKS}
        without_gpu = {each.__name__ for each in BENCHMARKS if "no GPU" in (each.__doc__ or "")}
        assert without_gpu == {"coverage"}
        assert {*re.findall(r"^bench (\w+) ", text, re.MULTILINE)} == commands - without_gpu


def test_help_of_the_benchmarks() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--help"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0
    for each in BENCHMARKS:
        assert f"    {each.__name__} " in done.stdout
