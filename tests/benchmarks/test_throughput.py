"""What `bench.py throughput` grades, and what it makes of the outcome."""

import time
from pathlib import Path

import pytest
from support.samples import failed, result

from harness import signals
from harness.languages.read import read_solution
from harness.problem.format.load import load_problem
from harness.records.refs import SolutionRef
from harness.records.result import Verdict


def test_variants_differ_and_some_are_wrong(tmp_path: Path) -> None:
    from benchmarks.throughput import write_variants

    folder = tmp_path / "solutions/gemm-multiply-leakyrelu/bench"
    wanted = write_variants(folder, 48)
    files = sorted(folder.iterdir())
    assert [file.stem for file in files] == sorted(wanted)
    assert len({file.read_bytes() for file in files}) == 48
    assert {file.suffix for file in files} == {".cu", ".py"}
    assert set(wanted.values()) == {"ACCEPTED", "WRONG_ANSWER", "COMPILE_ERROR"}
    assert list(wanted.values()).count("ACCEPTED") > 36
    languages = {read_solution(file).language for file in files}
    assert languages == {"cuda", "triton"}
    broken = [file for file in files if wanted[file.stem] == "COMPILE_ERROR"]
    assert {file.suffix for file in broken} == {".cu", ".py"}


def test_the_problem_has_smaller_shapes(tmp_path: Path) -> None:
    from benchmarks.throughput import SLUG, modest

    modest(tmp_path / SLUG)
    problem = load_problem(tmp_path / SLUG)
    assert len(problem.benchmarks) == 3
    assert max(shape["m"] for shape in problem.benchmarks) <= 2048


@pytest.mark.corpus
def test_files_are_graded_and_the_phases_of_all_are_known(
    capfd: pytest.CaptureFixture[str],
) -> None:
    from benchmarks.throughput import throughput

    found = throughput(2, "cpu", "verdict")
    assert found["verdicts"] == {"ACCEPTED": 2}
    assert not found["unexpected"]
    assert found["phases_s"]["check"] > 0
    assert capfd.readouterr().out.startswith("2 files in ")
    with pytest.raises(signals.OutOfTime), signals.limited(0.05):  # they are caught as before
        time.sleep(20)


def test_phases_are_added_up() -> None:
    from benchmarks.phases import Phases

    now = 0.0
    phases = Phases(lambda: now)
    for name, seconds in (("build", 1.0), ("time m=1", 2.0), ("check", 0.5), ("time m=2", 4.0)):
        phases.phase(name, 3)
        now += seconds
        phases.advance(note="x")
    phases.finish()
    assert phases.seconds == {"start": 0.0, "build": 1.0, "time": 6.0, "check": 0.5}
    assert phases.longest["time"] == (4.0, "time m=2")


def test_what_is_not_as_it_must_be_is_named() -> None:
    from benchmarks.phases import Phases
    from benchmarks.throughput import tell

    def named(name: str) -> SolutionRef:
        return SolutionRef(author="b", name=name, language="cuda", hash="h", path=f"{name}.cu")

    now = 0.0
    phases = Phases(lambda: now)
    phases.phase("time n=7")
    now = 2.0
    phases.phase("check")
    now += 3.0
    results = [result(solution=named("v0000")), failed(solution=named("v0001"), message="so")]
    found = tell(results, {"v0000": "ACCEPTED", "v0001": "ACCEPTED"}, phases, 6.0)
    assert found["per_minute"] == 20.0
    assert found["verdicts"] == {Verdict.ACCEPTED: 1, Verdict.WRONG_ANSWER: 1}
    assert found["unexpected"] == ["v0001 is WRONG_ANSWER, not ACCEPTED: so"]
    assert "| check | 3.0 | 60% | 1.50 |" in found["lines"]
    assert "longest: 2.0 s, time n=7" in found["lines"]
    (shape,) = results[0].measurements
    assert f"most looks at calls at work: 0, v0000, {shape.spec}" in found["lines"]
    assert any("20.0 | this harness" in line for line in found["lines"])
