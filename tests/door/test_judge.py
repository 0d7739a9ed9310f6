"""The door with the judge behind it, without a GPU."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import harness
from harness.sandbox import processes

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "solutions/vector-add/samples"
EXAMPLES = ROOT / "problems/vector-add/examples"
WAIT_S = 120.0


@pytest.fixture(scope="module")
def judge() -> Iterator[harness.Judge]:
    with harness.Judge(device="cpu", effort="verdict", problems=ROOT / "problems") as judge:
        yield judge


@pytest.mark.corpus
def test_what_is_right_and_what_is_wrong(judge: harness.Judge) -> None:
    right = (EXAMPLES / "accepted/custom_kernel.py").read_text("utf-8")
    wrong = (EXAMPLES / "wrong_answer/returns_an_input.py").read_text("utf-8")
    answer = f"Sure, here it is:\n\n```python\n{right}\n```\n"
    results = {
        each.number: each
        for each in judge.grade_many([right, wrong, answer, "I cannot do that."], "vector-add")
    }
    assert [str(results[n].verdict) for n in range(4)] == [
        "ACCEPTED", "WRONG_ANSWER", "ACCEPTED", "INVALID_SUBMISSION",
    ]  # fmt: skip
    assert results[0].solution.generation is None
    assert results[2].solution.generation is not None
    assert {each.device.kind for each in results.values()} == {"cpu"}
    assert results[1].shrunk is None
    assert results[0].score is None


@pytest.mark.parametrize("text", ["", "\ud800 code", "kernel\0.cu", "x" * (2 << 20), "naive.cu"])
def test_whatever_a_model_says_is_a_result(judge: harness.Judge, text: str) -> None:
    result = judge.grade(text, "vector-add")
    assert result.verdict is harness.Verdict.INVALID_SUBMISSION
    assert ("pathlib.Path" in result.message) == (text == "naive.cu")


def test_the_path_of_a_file_that_is_there_is_not_opened(judge: harness.Judge) -> None:
    result = judge.grade(str(SAMPLES / "naive.cu"), "vector-add")
    assert result.verdict is harness.Verdict.INVALID_SUBMISSION


@pytest.mark.parametrize(
    ("source", "about", "words"),
    [
        ("code", {"problem": "vector-ad"}, "did you mean vector-add"),
        ("code", {}, "which problem"),
        ("code", {"problem": "vector-add", "dtype": "flaot16"}, "dtype 'flaot16'.*float16"),
        ("code", {"problem": "vector-add", "language": "tritn"}, "did you mean triton"),
        (Path("no/such.cu"), {"problem": "vector-add"}, "no such file"),
    ],
)
def test_what_the_caller_does_wrong_is_an_exception(
    judge: harness.Judge, source: str | Path, about: dict[str, str], words: str
) -> None:
    with pytest.raises(harness.UsageError, match=words):
        judge.grade(source, **about)


@pytest.mark.corpus
def test_a_problem_with_mistakes(tmp_path: Path) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "problem.md").write_text("---\nslug: broken\nnonsense: 1\n---\n")
    with (
        harness.Judge(device="cpu", problems=tmp_path) as judge,
        pytest.raises(harness.ProblemError, match=r"problem\.md:3"),
    ):
        judge.grade("code", "broken")


@pytest.mark.corpus
def test_a_gpu_that_is_not_there() -> None:
    from harness.device.present import gpu_present

    if gpu_present():
        pytest.skip("there is one")
    with harness.Judge(device="cuda") as judge, pytest.raises(harness.NoDeviceError):
        judge.grade("code", "vector-add")


HOSTILE_CALLER = """
import os, signal, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
import torch
import harness
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs begin without it
torch.set_default_dtype(torch.bfloat16)
torch.set_grad_enabled(False)
judge = harness.Judge(device="cpu", problems=sys.argv[2])
pool = ThreadPoolExecutor(2)
with judge:
    waiting = pool.submit(judge.grade, Path(sys.argv[1]), "gemm-multiply-leakyrelu")
    if len(sys.argv) > 3 and os.fork() == 0:
        os.setsid()
        import time
        time.sleep(600)
    print("begun", flush=True)
    waiting.result()
"""


def left(pids: list[int]) -> list[int]:
    """Those that still live after a while."""
    deadline = time.monotonic() + WAIT_S
    while alive := [pid for pid in pids if Path(f"/proc/{pid}/exe").exists()]:
        if time.monotonic() > deadline:
            break
        time.sleep(0.1)
    return alive


@pytest.mark.corpus
@pytest.mark.parametrize("forks", [False, True])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_nothing_is_left_when_the_caller_ends(
    tmp_path: Path, number: signal.Signals, forks: bool
) -> None:
    never = ROOT / "problems/gemm-multiply-leakyrelu/examples/time_limit/never_returns.py"
    words = [str(never), str(ROOT / "problems"), *(["fork"] if forks else [])]
    caller = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", HOSTILE_CALLER, *words],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert caller.stdout is not None
    assert caller.stdout.readline() == "begun\n"
    deadline = time.monotonic() + WAIT_S
    while len(processes.descendants(caller.pid)) < 4 + forks:  # a sandbox is at work
        assert time.monotonic() < deadline
        time.sleep(0.1)
    time.sleep(1.0)  # by now it waits: Python can be interrupted where it holds a lock for good
    below = processes.descendants(caller.pid)
    mine = [pid for pid in below if "600" not in _words(pid)]
    fork = [pid for pid in below if forks and _is_fork(pid, caller.pid)]
    caller.send_signal(number)
    caller.wait(WAIT_S)
    caller.stdout.close()
    try:
        assert left([pid for pid in mine if pid not in fork]) == []
    finally:
        for pid in fork:
            os.kill(pid, signal.SIGKILL)
    assert [p.name for p in tmp_path.iterdir() if p.name != "kernel-harness-locks"] == []


def _words(pid: int) -> str:
    """Its command line; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _is_fork(pid: int, parent: int) -> bool:
    """Whether it is the caller's fork, which has its command line."""
    return _words(pid) == _words(parent)


@pytest.mark.corpus
def test_a_judge_that_is_killed_grades_the_same_again(judge: harness.Judge) -> None:
    results = judge.grade_many([SAMPLES / "naive.cu", SAMPLES / "vectorized.cu"], "vector-add")
    life = judge._connection._life
    assert life is not None
    os.kill(life._process.pid, signal.SIGKILL)
    assert [str(each.verdict) for each in results] == ["ACCEPTED"] * 2
