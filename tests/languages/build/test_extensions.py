"""What is made of the requests that a submission's process wrote."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.languages.build import extensions
from harness.languages.build.cache import BuildError, BuildOutcome, Cache
from harness.languages.build.extensions import notes_on, with_requests
from harness.languages.python import MENTION, Python
from harness.languages.read import read_solution
from harness.problem.package import Problem
from harness.problem.terms import Limits
from harness.records.build import Build
from harness.records.result import Verdict
from harness.solution.model import Artifact, BuildFailure, Solution, Target
from harness.wire.extensions import MAX_EXTENSIONS, ExtensionRequest, SourceFile

LIMITS = Limits(build_s=10.0)
PYTHON = Artifact(
    kind="python",
    target=Target(kind="cpu"),
    source="",
    build=Build(seconds=0.5, cached=False, target="python"),
    extensions=(),
)


def _request(number: int = 0) -> ExtensionRequest:
    return ExtensionRequest(
        name=f"made{number}", sources=(SourceFile(name="main.cpp", text=f"// {number}"),)
    )


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path)


@pytest.fixture
def outcomes(monkeypatch: pytest.MonkeyPatch) -> list[BuildOutcome]:
    """What the next builds come to; the first one when there are no more."""
    made: list[BuildOutcome] = []

    def built(*_: object) -> BuildOutcome:
        return made.pop() if len(made) > 1 else made[0]

    monkeypatch.setattr(extensions, "_built", built)
    return made


def _failed(verdict: Verdict, message: str = "main.cpp:1: error: no") -> BuildOutcome:
    return BuildOutcome(failure=BuildError(verdict=verdict, message=message), log="words")


def test_libraries_and_their_figures_are_added(outcomes: list[BuildOutcome], cache: Cache) -> None:
    outcomes.append(BuildOutcome(files={"library": Path("/x.so")}, log="words", seconds=2.0))
    made = with_requests(PYTHON, [_request()], LIMITS, cache)
    assert isinstance(made, Artifact)
    assert made.extensions is not None
    assert [each.library for each in made.extensions] == [Path("/x.so")]
    assert (made.build.seconds, made.build.log) == (2.5, "words")
    assert notes_on(made.extensions, ()) == ["extension made0: built"]


def test_what_is_there_is_not_built_again(outcomes: list[BuildOutcome], cache: Cache) -> None:
    outcomes.append(BuildOutcome(files={"library": Path("/x.so")}, seconds=2.0))
    first = with_requests(PYTHON, [_request()], LIMITS, cache)
    assert isinstance(first, Artifact)
    second = with_requests(first, [_request(), _request(1)], LIMITS, cache)
    assert isinstance(second, Artifact)
    assert second.extensions is not None
    assert [each.request.name for each in second.extensions] == ["made0", "made1"]


@pytest.mark.parametrize(
    ("verdict", "words", "refused"),
    [
        (Verdict.COMPILE_ERROR, "Error building extension 'made0': main.cpp:1: error: no", False),
        (Verdict.INVALID_SUBMISSION, "extension 'made0': main.cpp:1: error: no", True),
    ],
)
def test_an_error_that_the_submission_may_catch_is_its_to_raise(
    outcomes: list[BuildOutcome], cache: Cache, verdict: Verdict, words: str, refused: bool
) -> None:
    outcomes.append(_failed(verdict))
    made = with_requests(PYTHON, [_request()], LIMITS, cache)
    assert isinstance(made, Artifact)
    assert made.extensions is not None
    (only,) = made.extensions
    assert (only.library, only.error, only.refused) == (None, words, refused)
    (note,) = notes_on(made.extensions, ())
    assert "the submission went on without it" in note


@pytest.mark.parametrize(
    "verdict",
    [
        Verdict.NOT_EXECUTABLE_HERE,
        Verdict.TIME_LIMIT,
        Verdict.MEMORY_LIMIT,
        Verdict.INTERNAL_ERROR,
    ],
)
def test_others_end_the_grade(outcomes: list[BuildOutcome], cache: Cache, verdict: Verdict) -> None:
    outcomes.append(_failed(verdict))
    failure = with_requests(PYTHON, [_request()], LIMITS, cache)
    assert isinstance(failure, BuildFailure)
    assert failure.verdict is verdict
    assert failure.log == "words"


def test_many_that_take_long_end_in_a_time_limit(
    outcomes: list[BuildOutcome], cache: Cache
) -> None:
    outcomes.append(BuildOutcome(files={"library": Path("/x.so")}, seconds=15.0))
    failure = with_requests(PYTHON, list(map(_request, range(9))), LIMITS, cache)
    assert isinstance(failure, BuildFailure)
    assert failure.verdict is Verdict.TIME_LIMIT
    assert failure.build is not None
    assert failure.build.seconds == 45.5


def test_more_than_the_most_are_not_built(outcomes: list[BuildOutcome], cache: Cache) -> None:
    outcomes.append(BuildOutcome(files={"library": Path("/x.so")}))
    made = with_requests(PYTHON, list(map(_request, range(99))), LIMITS, cache)
    assert isinstance(made, Artifact)
    assert made.extensions is not None
    assert len(made.extensions) == MAX_EXTENSIONS


def test_what_was_never_built_is_noted() -> None:
    (note,) = notes_on((), [_request()])
    assert note == "extension made0: not built, for it is another one each time"


@pytest.mark.parametrize("mentions", [False, True])
def test_files_that_do_not_mention_extensions_pay_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cache: Cache, problem: Problem, mentions: bool
) -> None:
    asked: list[Artifact] = []

    def with_extensions(artifact: Artifact, *_: object) -> Artifact:
        asked.append(artifact)
        return replace(artifact, extensions=())

    monkeypatch.setattr(extensions, "with_extensions", with_extensions)
    path = tmp_path / "mine.py"
    path.write_text(f"# {MENTION if mentions else ''}\ndef solution(): ...\n")
    solution = read_solution(path, problem=problem.slug)
    assert isinstance(solution, Solution)
    made = Python().build(solution, problem, "float32", Target(kind="cpu"), cache)
    assert isinstance(made, Artifact)
    assert (len(asked), made.extensions) == (mentions, () if mentions else None)
