"""A problem of concrete tensors, without declared shapes, goes through the judge like any other."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

import pytest
import torch
from support.concrete_problem import ConcreteProblem, Formal
from support.plain_languages import PLAIN_LANGUAGES
from torch import Tensor

from harness.device.cpu import CpuDevice
from harness.errors import UsageError
from harness.grading.grader import Grader
from harness.grading.job import Job, Options
from harness.judge.batch import Batch
from harness.judge.cases import CasesOutcome, run_cases
from harness.judge.checker import Checker
from harness.judge.layout import lay_out
from harness.judge.replay import FailingCase, shrink_failure
from harness.judge.task import Task
from harness.languages.read import read_solution
from harness.problem.case import CaseLimits
from harness.problem.gradable import Gradable
from harness.problem.package import Problem
from harness.problem.sampling.footprint import footprint
from harness.problem.signature import c_prototype, python_signature
from harness.problem.terms import Direction, Role
from harness.progress.progress import NoProgress
from harness.records.result import Verdict
from harness.session.programs import source_program
from harness.session.session import Session

LENGTHS = {1: 3, 2: 17, 3: 100}

HONEST = """
def solution(x, w, alpha, y):
    for i in range(len(y)):
        y[i] = alpha * x[i] + w[i]
"""


def draw(test: int, generator: torch.Generator) -> Mapping[str, Tensor]:
    length = LENGTHS[test]
    x, w = (torch.randn(length, generator=generator) for _ in range(2))
    return {"x": x, "w": w * 10}


def solve(x: Tensor, w: Tensor, alpha: float) -> Mapping[str, Tensor]:
    return {"y": alpha * x + w}


@pytest.fixture(scope="module")
def problem() -> ConcreteProblem:
    return ConcreteProblem(
        parameters=(
            Formal("x", "[VAR]", Role.TENSOR, Direction.IN),
            Formal("w", "[VAR]", Role.TENSOR, Direction.IN),
            Formal("alpha", "double", Role.SCALAR),
            Formal("y", "[VAR]", Role.TENSOR, Direction.OUT),
        ),
        draw=draw,
        solve=solve,
        tests=3,
        scalars={"alpha": 1.5},
    )


@pytest.fixture(scope="module")
def task(problem: ConcreteProblem) -> Task:
    return Task(problem, problem.reference(), "float32", CpuDevice(), "a secret")


Judge = Callable[[str], CasesOutcome]


@pytest.fixture
def judge(task: Task, stand_in_for_torch: None) -> Judge:
    def run(source: str) -> CasesOutcome:
        cases = task.problem.draw_cases(task.seed, dtype=task.dtype, room=CaseLimits())
        program = source_program(source.encode())
        with Session(program, task.device, task.problem.limits) as session:
            assert session.load() is None
            return run_cases(session, task, cases, lambda: None)

    return run


def test_both_kinds_of_problem_are_gradable(problem: ConcreteProblem, shift: Problem) -> None:
    both: list[Gradable] = [problem, shift]  # for mypy
    assert [one.declared for one in both] == [None, shift]


def test_an_honest_submission_is_right(judge: Judge) -> None:
    outcome = judge(HONEST)
    assert outcome.fault is None
    assert [case.spec for case in outcome.cases] == ["test=1", "test=2", "test=3"]
    assert all(case.passed for case in outcome.cases)


def test_a_wrong_answer_names_its_elements(judge: Judge) -> None:
    outcome = judge(HONEST + "    if len(y) == 17:\n        y[16] += 0.5\n")
    assert outcome.fault is not None
    assert outcome.fault.verdict is Verdict.WRONG_ANSWER
    assert [case.passed for case in outcome.cases] == [True, False]
    mismatch = outcome.cases[-1].mismatch
    assert mismatch is not None
    assert (mismatch.parameter, mismatch.differing, mismatch.total) == ("y", 1, 17)
    assert mismatch.first.index == (16,)
    assert mismatch.first.got == pytest.approx(mismatch.first.expected + 0.5)
    allowed = 1e-6 + 1e-4 * abs(mismatch.first.expected)
    assert mismatch.first.allowed == pytest.approx(allowed)


def test_its_own_tolerance_decides(judge: Judge) -> None:
    slightly = "    for i in range(len(y)):\n        y[i] *= 1 + {}\n"
    assert judge(HONEST + slightly.format(5e-5)).fault is None
    assert judge(HONEST + slightly.format(5e-4)).fault is not None


def test_a_changed_input_is_found(judge: Judge) -> None:
    outcome = judge(HONEST + "    w[2] = 0.0\n")
    assert outcome.fault is not None
    assert outcome.fault.message == "const input w was changed (element 2)"


def test_an_output_left_out_is_wrong(judge: Judge) -> None:
    assert judge(HONEST.replace("range(len(y))", "range(len(y) - 1)")).fault is not None


def test_the_grader_grades_it(
    problem: ConcreteProblem, tmp_path: Path, stand_in_for_torch: None
) -> None:
    verdicts = []
    with Grader(CpuDevice(), NoProgress(), languages=PLAIN_LANGUAGES) as one:
        for name, more in (("right", ""), ("wrong", "    y[0] += 1.0\n")):
            path = tmp_path / f"{name}.py"
            path.write_text(HONEST + more)
            solution = read_solution(path, problem=problem.slug)
            job = Job(path=str(path), solution=solution, problem=cast(Problem, problem))
            result = one.grade(job, Options(timing=False))
            verdicts.append(result.verdict)
    assert verdicts == [Verdict.ACCEPTED, Verdict.WRONG_ANSWER]
    assert result.cases[-1].spec == "test=1"
    assert result.shrunk is not None


def test_a_failing_case_is_run_again_and_shown_but_not_shrunk(
    task: Task, stand_in_for_torch: None
) -> None:
    source = HONEST + "    y[0] += 1.0\n"

    def start() -> Session:
        session = Session(source_program(source.encode()), task.device, task.problem.limits)
        assert session.load() is None
        return session

    failing = FailingCase(task.problem.parse_case("test=2"), 1, Verdict.WRONG_ANSWER)
    found = shrink_failure(task, failing, start, 5.0)
    assert found is not None
    assert (found.case.spec, found.trials) == ("test=2", 0)
    assert {(t.role, t.parameter) for t in found.tensors} == {
        ("input", "x"),
        ("input", "w"),
        ("expected", "y"),
        ("got", "y"),
    }


def test_inputs_follow_from_the_seed_and_differ_from_call_to_call(task: Task) -> None:
    case = task.problem.parse_case("test=3")
    arena = task.device.arena(lay_out(task, case, 2).size)
    try:
        batch = Batch(task, case, arena, 2, portable=True)
        batch.fill("one")
        first, second = batch.inputs(0), batch.inputs(1)
        assert not torch.equal(first["x"], second["x"])
        batch.fill("two")
        assert not torch.equal(first["x"], batch.inputs(0)["x"])
        batch.fill("one")
        assert torch.equal(first["x"], batch.inputs(0)["x"])
    finally:
        arena.close()


def test_a_reference_that_cannot_be_captured_is_checked_without_a_graph(task: Task) -> None:
    checker = Checker(task, reused=True)
    checker._recordable = True  # as on a GPU
    case = task.problem.parse_case("test=1")
    inputs = {"x": torch.ones(3), "w": torch.zeros(3)}
    right, wrong = {"y": torch.full((3,), 1.5)}, {"y": torch.ones(3)}
    assert checker.all_surely_right(case, 20, lambda call: (inputs, right))
    assert checker._recorded is None
    assert not checker.all_surely_right(case, 20, lambda call: (inputs, wrong))


def test_signature_and_footprint(problem: ConcreteProblem) -> None:
    expected = "const VAR* x, const VAR* w, double alpha, VAR* y"
    assert c_prototype(problem) == f'extern "C" void solution({expected});'
    assert python_signature(problem) == "def solution(x, w, alpha, y):"
    small, large = (problem.parse_case(f"test={n}") for n in (1, 3))
    assert footprint(problem.tensors_of(small, "float32")) < footprint(
        problem.tensors_of(large, "float32")
    )


def test_an_unknown_case_is_refused(problem: ConcreteProblem) -> None:
    with pytest.raises(UsageError, match="test=1 to test=3"):
        problem.parse_case("test=4")
