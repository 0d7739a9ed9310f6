from pathlib import Path

import pytest

from harness.languages import LANGUAGES
from harness.languages.build.cache import Cache
from harness.languages.python import cpu_notes
from harness.languages.read import read_solution
from harness.problem.package import Problem
from harness.records.result import Verdict
from harness.solution.model import Artifact, BuildFailure, Solution, Target


def build(path: Path, text: str, problem: Problem) -> Artifact | BuildFailure:
    path.write_text(text)
    solution = read_solution(path)
    assert isinstance(solution, Solution)
    language = LANGUAGES[solution.language]
    return language.build(solution, problem, "float32", Target(kind="cpu"), Cache(path.parent))


@pytest.mark.parametrize(
    "text",
    [
        "def solution(a, b, out, alpha, m, n, k):\n    pass\n",
        "solution = print\n",
        "solution: object = print\n",
        "a, (solution, b) = 1, (2, 3)\n",
        "from operator import add as solution\n",
        "try:\n    import fast\nexcept ImportError:\n    def solution(): pass\n",
        "if True:\n    pass\nelse:\n    solution = print\n",
        "class solution: pass\n",
        "raise SystemExit('a submission is never run here')\ndef solution(): pass\n",
        "# coding: latin-1\ndef solution(): pass  # ä\n",
    ],
)
def test_a_file_that_defines_solution(tmp_path: Path, problem: Problem, text: str) -> None:
    artifact = build(tmp_path / "a.py", text, problem)
    assert isinstance(artifact, Artifact), artifact
    assert (artifact.kind, artifact.source) == ("python", text)


@pytest.mark.parametrize(
    "text",
    [
        "import torch\n",
        "def solutoin(): pass\n",
        "def f():\n    def solution(): pass\n",
        "class A:\n    def solution(self): pass\n",
        "solution: object\n",
        "# def solution(): pass\n",
    ],
)
def test_a_file_without_an_entry_point_is_invalid(
    tmp_path: Path, problem: Problem, text: str
) -> None:
    failure = build(tmp_path / "a.py", text, problem)
    assert isinstance(failure, BuildFailure)
    assert failure.verdict is Verdict.INVALID_SUBMISSION
    assert "def solution(a, b, out, alpha, m, n, k):" in failure.message


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("def solution(:\n    pass\n", 1, "invalid syntax"),
        ("def solution():\n    x = 1\n     y = 2\n", 3, "unexpected indent"),
        ("def solution():\n  return\nreturn\n", 3, "'return' outside function"),
        ("def solution():\n    x = 'a\n", 2, "unterminated string"),
    ],
)
def test_syntax_errors_have_their_line(
    tmp_path: Path, problem: Problem, text: str, line: int, reason: str
) -> None:
    path = tmp_path / "a.py"
    failure = build(path, text, problem)
    assert isinstance(failure, BuildFailure)
    assert failure.verdict is Verdict.COMPILE_ERROR
    assert failure.message.startswith(f"{path}:{line}: ")
    assert reason in failure.message


def test_the_caret_points_at_the_error(tmp_path: Path, problem: Problem) -> None:
    failure = build(tmp_path / "a.py", "def f():\n    a = b c\n", problem)
    assert isinstance(failure, BuildFailure)
    assert failure.message.splitlines()[1:] == ["    a = b c", "          ^"]


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 1000 + ")" * 1000,
        "x = " + "[" * 100_000,
        "x = " + "-" * 300_000 + "1",
        "x = " + "a." * 300_000 + "b",
        "x = " + "1+" * 300_000 + "1",
        "x" + "()" * 200_000,
        "if x:\n" + "".join(" " * n + "if x:\n" for n in range(1, 200)) + " " * 200 + "pass",
        "x = 1" + "0" * 900_000,
    ],
    ids=["brackets", "open", "minus", "dots", "sum", "calls", "blocks", "digits"],
)
def test_text_that_exhausts_the_parser_is_the_submissions_fault(
    tmp_path: Path, problem: Problem, text: str
) -> None:
    failure = build(tmp_path / "a.py", text + "\n", problem)
    assert isinstance(failure, BuildFailure)
    assert failure.verdict in (Verdict.COMPILE_ERROR, Verdict.INVALID_SUBMISSION)


@pytest.mark.parametrize(
    ("line", "noted"),
    [
        ('z = torch.empty(n, device="cuda")', True),
        ("z = x.to('cuda:0')", True),
        ("z = x.cuda()", True),
        ('z = torch.device( "cuda" )', True),
        ("z = x  # 'cuda'", False),
        ("z = torch.empty(n, device=x.device)", False),
        ('cuda_source = "cuda kernels"', False),
    ],
)
def test_a_device_that_is_the_cpu_is_noted(tmp_path: Path, line: str, noted: bool) -> None:
    (tmp_path / "a.py").write_text(f"def solution(x, z, n):\n    {line}\n")
    solution = read_solution(tmp_path / "a.py")
    assert isinstance(solution, Solution), solution
    assert bool(cpu_notes(solution)) is noted
