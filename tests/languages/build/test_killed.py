"""A compiler that is killed from outside is no verdict on the submission, and never stored."""

import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.languages import python
from harness.languages.build import translation
from harness.languages.build.compiler import compile_failure, limit_failure
from harness.languages.build.diagnostics import CHILD_KILLED
from harness.languages.build.triton_target import outcome_of
from harness.records.result import Verdict
from harness.sandbox.command import CommandResult
from harness.solution.model import BuildFailure
from harness.wire.messages import Compiled


def _finished(code: int, output: str = "", **changes: Any) -> CommandResult:
    fields: dict[str, Any] = {
        "returncode": code,
        "output": output,
        "timed_out": False,
        "over_memory": False,
        "truncated": False,
        "seconds": 1.0,
        "peak_bytes": 1,
    }
    return CommandResult(**fields | changes)


KILLED = (
    "g++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n",
    "x86_64-linux-gnu-g++-12: fatal error: Killed signal terminated program as\n",
    "collect2: fatal error: ld terminated with signal 9 [Killed]\ncompilation terminated.\n",
    "nvcc error   : 'cicc' died due to signal 9 (Kill signal)\n",
    "error   : '\"/usr/bin\"/g++' died due to signal 9 (Kill signal)\n",
    "clang: error: unable to execute command: Killed\n",
)
ITS_OWN = (
    "",
    "solution.cu:3:1: error: expected ';'\n",
    "g++: internal compiler error: Segmentation fault signal terminated program cc1plus\n",
    "nvcc error   : 'ptxas' died due to signal 11 (Invalid memory reference)\n",
    "solution.cu:1:2: error: #error g++: fatal error: Killed signal terminated program cc1plus\n",
)


@pytest.mark.parametrize("log", KILLED)
def test_a_killed_part_of_a_compiler_is_an_internal_error(log: str) -> None:
    assert CHILD_KILLED.search(log)
    failure = limit_failure("nvcc", _finished(1, log), 10.0)
    assert failure is not None
    assert failure.verdict is Verdict.INTERNAL_ERROR


@pytest.mark.parametrize("log", ITS_OWN)
def test_other_errors_of_a_compiler_are_no_kill(log: str) -> None:
    assert not CHILD_KILLED.search(log)
    assert limit_failure("nvcc", _finished(1, log), 10.0) is None


LIMIT = 2 << 30
OUT_OF_MEMORY = (
    "\ncc1plus: out of memory allocating 1073741840 bytes after a total of 610304 bytes\n",
    "as: out of memory allocating 23000000001 bytes after a total of 135168 bytes\n",
    "virtual memory exhausted: Cannot allocate memory\n",
    "/usr/bin/ld: final link failed: memory exhausted\n",
    "solution.cu: catastrophic error: out of memory\n",
    "LLVM ERROR: out of memory\nAborted\n",
    "ptxas fatal   : Memory allocation failure\n",
    "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n",
)


@pytest.mark.parametrize("log", OUT_OF_MEMORY)
def test_a_compiler_that_is_refused_memory_is_over_its_limit(log: str) -> None:
    failure = limit_failure("nvcc", _finished(1, log, memory_bytes=LIMIT, peak_bytes=700 << 20), 9)
    assert failure is not None
    assert failure.verdict is Verdict.MEMORY_LIMIT
    assert "700 MiB" in failure.message
    assert "2048 MiB" in failure.message
    assert limit_failure("nvcc", _finished(0, log, memory_bytes=LIMIT), 9) is None  # it went well


@pytest.mark.parametrize("log", ITS_OWN)
def test_other_errors_are_no_want_of_memory(log: str) -> None:
    assert limit_failure("nvcc", _finished(1, log, near_memory_limit=True), 10.0) is None


@pytest.mark.parametrize("log", ["", *KILLED])
def test_a_compiler_killed_near_its_limit_of_memory_is_over_it(log: str) -> None:
    """The kernel was quicker than the judge: grading again would only do the same again."""
    code = 1 if log else -signal.SIGKILL
    near = _finished(code, log, near_memory_limit=True, peak_bytes=1900 << 20, memory_bytes=LIMIT)
    failure = limit_failure("nvcc", near, 10.0)
    assert failure is not None
    assert failure.verdict is Verdict.MEMORY_LIMIT
    assert "1900 MiB" in failure.message
    assert "2048 MiB" in failure.message


CRASHES = (
    "g++: internal compiler error: Segmentation fault signal terminated program cc1plus\n",
    "nvcc error   : 'ptxas' died due to signal 11 (Invalid memory reference)\n",
    "collect2: fatal error: ld terminated with signal 11 [Segmentation fault]\n",
)


@pytest.mark.parametrize("log", CRASHES)
def test_a_compiler_that_crashes_rejects_the_submission(log: str) -> None:
    failure = compile_failure("nvcc", _finished(1, log), log)
    assert failure.verdict is Verdict.COMPILE_ERROR
    assert "nvcc itself failed on this file" in failure.message
    assert log.strip()[:40] in failure.message


def test_a_compiler_that_crashes_without_a_word_rejects_the_submission() -> None:
    failure = compile_failure("nvcc", _finished(-signal.SIGSEGV), "")
    assert failure.verdict is Verdict.COMPILE_ERROR
    assert "itself failed on this file (SIGSEGV)" in failure.message


def test_a_killed_compiler_is_an_internal_error() -> None:
    failure = limit_failure("nvcc", _finished(-signal.SIGKILL), 10.0)
    assert failure is not None
    assert failure.verdict is Verdict.INTERNAL_ERROR
    assert "nvcc was killed" in failure.message
    assert limit_failure("nvcc", _finished(-signal.SIGSEGV), 10.0) is None
    # Our own limits end it by the same signal.
    late = limit_failure("nvcc", _finished(-signal.SIGKILL, timed_out=True), 10.0)
    assert late is not None
    assert late.verdict is Verdict.TIME_LIMIT


def test_a_limit_of_time_is_named_with_the_file_and_its_key() -> None:
    late = limit_failure("nvcc", _finished(-signal.SIGKILL, timed_out=True), 10.0, "mine.cu")
    assert late is not None
    assert "compiling mine.cu took longer than 10 s, the problem's limit build_s" in late.message


def test_a_successful_compiler_was_not_killed() -> None:
    assert limit_failure("nvcc", _finished(0, KILLED[0]), 10.0) is None


def test_a_compiler_that_names_no_error_is_an_internal_error() -> None:
    assert compile_failure("nvcc", _finished(255), "").verdict is Verdict.INTERNAL_ERROR
    flooded = _finished(1, "warning: w\n" * 99, truncated=True)
    assert compile_failure("nvcc", flooded, flooded.output).verdict is Verdict.COMPILE_ERROR


def test_a_killed_translator_is_not_reusable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        translation, "run_limited", lambda *_, **__: _finished(-signal.SIGKILL, "{")
    )
    done = translation.translate_limited("x", name="x.cu", folder=tmp_path, output="x.cpp")
    assert done.killed
    assert done.stopped


def test_a_translator_that_takes_too_much_says_how_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def translated(**changes: Any) -> translation.Translation:
        finished = _finished(-signal.SIGKILL, "", memory_bytes=LIMIT, **changes)
        monkeypatch.setattr(translation, "run_limited", lambda *_, **__: finished)
        return translation.translate_limited("x", name="x.cu", folder=tmp_path, output="x.cpp")

    for changes, limit in (("over_memory", "2048 MiB"), ("timed_out", "10 s")):
        done = translated(**{changes: True})
        assert done.obstacle.endswith(f"within {limit}")
        assert not done.killed
    assert translated(near_memory_limit=True).obstacle.endswith("within 2048 MiB")


def test_a_syntax_check_killed_near_its_limit_is_over_it() -> None:
    solution: Any = SimpleNamespace(display_path="plain.py")
    near = _finished(-signal.SIGKILL, near_memory_limit=True, memory_bytes=LIMIT)
    failure = python._entry(solution, None, near)  # type: ignore[arg-type]
    assert isinstance(failure, BuildFailure)
    assert failure.verdict is Verdict.MEMORY_LIMIT
    assert "parsing plain.py takes too much memory" in failure.message


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        (-signal.SIGKILL, Verdict.INTERNAL_ERROR),
        (-signal.SIGSEGV, Verdict.COMPILE_ERROR),
        (-signal.SIGABRT, Verdict.COMPILE_ERROR),
    ],
)
def test_a_killed_syntax_check_is_an_internal_error(code: int, verdict: Verdict) -> None:
    solution: Any = SimpleNamespace(display_path="plain.py")
    failure = python._entry(solution, None, _finished(code))  # type: ignore[arg-type]
    assert isinstance(failure, BuildFailure)
    assert failure.verdict is verdict


def _answer(**changes: Any) -> Compiled:
    kernel = {"name": "k", "registers": 32, "shared_bytes": 0} | changes.pop("kernel", {})
    fields = {"status": "ok", "message": "", "line": None, "seconds": 1.0, "configurations": 1}
    return Compiled.from_json({**fields, "kernels": [kernel], **changes})


def test_a_killed_assembler_of_triton_is_an_internal_error() -> None:
    message = "PTXAS error: `ptxas` failed with error code -9\n`ptxas` stderr:\n"
    outcome = outcome_of(_answer(status="compile_error", message=message), "", "a.py")
    assert outcome.failure is not None
    assert outcome.failure.verdict is Verdict.INTERNAL_ERROR
    assert not outcome.reusable
    own = outcome_of(_answer(status="compile_error", message="no such name", line=3), "", "a.py")
    assert own.failure is not None
    assert (own.failure.verdict, own.failure.message) == (
        Verdict.COMPILE_ERROR,
        "a.py:3: no such name",
    )
    assert own.reusable


@pytest.mark.parametrize("lie", [{"shared_bytes": 10**400}, {"registers": -1}])
def test_impossible_figures_are_not_stored(lie: dict[str, Any]) -> None:
    outcome = outcome_of(_answer(kernel=lie), "", "a.py")
    assert outcome.kernels == ()
    assert not outcome.reusable
    assert len(outcome_of(_answer(), "", "a.py").kernels) == 1
