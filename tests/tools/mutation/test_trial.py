"""Mutants graded for real, and the list of those that are equivalent."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.device.choose import open_device
from harness.grading.grader import Grader
from harness.problem.format.load import load_problem
from harness.progress.progress import NoProgress
from harness.records.result import Verdict
from tools.mutation.__main__ import main
from tools.mutation.cuda import cuda_mutants
from tools.mutation.equivalent import description, read_equivalents, stale
from tools.mutation.mutants_of import mutants_of
from tools.mutation.report import Score, print_scores
from tools.mutation.trial import Outcome, Trial, Trials, subject_of

ROOT = Path(__file__).parents[3]
SLUG = "gemm-multiply-leakyrelu"
NAIVE = ROOT / "solutions" / SLUG / "samples/naive.cu"

# Operator → how the first mutant of its kind must die.
SAMPLE = {
    "bounds check dropped": {Verdict.RUNTIME_ERROR},
    "last step left out": {Verdict.WRONG_ANSWER},
    "accumulated in VAR": {Verdict.WRONG_ANSWER},
    "branches swapped": {Verdict.WRONG_ANSWER},
    "assignment": {Verdict.WRONG_ANSWER},
    "rounding up by one less": {Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR},
}


@pytest.fixture(scope="module")
def trials() -> Iterator[Trials]:
    subject = subject_of(NAIVE, load_problem(ROOT / "problems" / SLUG))
    assert subject is not None
    assert subject.dtypes == ("float32", "float16", "bfloat16")
    with Grader(open_device("cpu"), NoProgress()) as grader:
        yield Trials(subject, grader, "test", None)


@pytest.mark.corpus
def test_the_judge_kills_them(trials: Trials) -> None:
    every = cuda_mutants(NAIVE.read_text(encoding="utf-8"), "naive.cu")
    chosen = [next(m for m in every if m.operator == operator) for operator in SAMPLE]
    heard: list[Trial] = []
    done = trials.run(chosen, 2, heard.append)
    assert [(t.mutant.operator, t.outcome) for t in done] == [(o, Outcome.KILLED) for o in SAMPLE]
    assert heard == done
    for trial in done:
        assert trial.verdict in SAMPLE[trial.mutant.operator], trial.message
        assert trial.case >= 1
        narrow = trial.mutant.operator == "accumulated in VAR"
        assert (trial.dtype == "float16") == narrow


@pytest.mark.corpus
def test_what_builds_nowhere_does_not_count(trials: Trials) -> None:
    every = cuda_mutants(NAIVE.read_text(encoding="utf-8"), "naive.cu")
    broken = every[0]
    as_if = type(broken)(
        file=broken.file, operator="x", line=1, context="", start=0, end=0, after="#error\n",
        source=broken.source,
    )  # fmt: skip
    (trial,) = trials.run([as_if], 1, lambda _: None)
    assert trial.outcome is Outcome.UNBUILT


@pytest.mark.corpus
def test_the_original_is_accepted(trials: Trials) -> None:
    assert trials.original() == ""


def test_every_entry_of_the_list_is_a_mutant() -> None:
    known = read_equivalents()
    mutants = []
    for file in sorted({entry.file for entry in known.values()}):
        problem = load_problem(ROOT / "problems" / file.split("/")[0])
        subject = subject_of(ROOT / "solutions" / file, problem)
        assert subject is not None
        mutants += mutants_of(subject, ROOT / "solutions")
    assert stale(known, mutants) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[["a.cu"]]\nid = "1"\nchange = "x"\nreason = " "\n', "needs id, change and reason"),
        ('[["a.cu"]]\nid = "1"\nchange = "x"\n', "needs id, change and reason"),
        ('[["a.cu"]]\nid = "1"\nchange = "x"\nreason = "y"\n' * 2, "there twice"),
    ],
)
def test_entries_must_be_complete(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "equivalent.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=words):
        read_equivalents(path)


def test_entries_that_no_longer_fit_are_told(tmp_path: Path) -> None:
    mutant = cuda_mutants(NAIVE.read_text(encoding="utf-8"), "a.cu")[0]
    path = tmp_path / "equivalent.toml"
    entry = '[["a.cu"]]\nid = "{}"\nchange = "{}"\nreason = "y"\n'
    path.write_text(entry.format(mutant.id, "something else") + entry.format("0123456789", "gone"))
    told = stale(read_equivalents(path), [mutant])
    assert told == [
        f"a.cu: {mutant.id} is {description(mutant)}",
        "a.cu: 0123456789 (gone) is no mutant any more",
    ]


def test_scores(capsys: pytest.CaptureFixture[str]) -> None:
    mutants = cuda_mutants(NAIVE.read_text(encoding="utf-8"), "a.cu")[:5]
    outcomes = (
        Outcome.KILLED, Outcome.KILLED, Outcome.SURVIVED, Outcome.EQUIVALENT, Outcome.UNBUILT,
    )  # fmt: skip
    trials = tuple(
        Trial(m, o, "WRONG_ANSWER", "float32", case)
        for m, o, case in zip(mutants, outcomes, (1, 7, 0, 0, 0), strict=True)
    )
    score = Score("a.cu", "", trials)
    assert (score.built, score.share) == (4, 2 / 3)
    assert score.reaches(0.6)
    assert not score.reaches(0.98)
    print_scores([score, Score("b.cu", "float32: WRONG_ANSWER: off", ())], 0.98)
    out = capsys.readouterr().out
    assert "66.7%" in out
    assert f"{mutants[2].id} line {mutants[2].line}: {description(mutants[2])}" in out
    assert "in one of the three first cases: 1 of 2" in out
    assert "b.cu: not tried: float32: WRONG_ANSWER: off" in out
    assert out.endswith("below 98%: a.cu\n")


def test_the_command_lists(capsys: pytest.CaptureFixture[str]) -> None:
    status = main([SLUG, "--file", "naive.cu", "--list", "--operator", "barrier dropped"])
    assert status == 0
    assert main([SLUG, "--file", "tiled.cu", "--list", "--limit", "7"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if "tiled.cu:" in line]
    assert len(lines) == 7
