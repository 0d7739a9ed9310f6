"""What `harness init` writes: its place, its comment, and the verdict where it runs here."""

import ast
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness import starter
from harness.commands.problems import STARTER_LANGUAGES
from harness.device.choose import open_device
from harness.errors import UsageError
from harness.grading.grader import Grader
from harness.grading.job import Job, Options
from harness.languages import LANGUAGES
from harness.languages.read import read_solution
from harness.problem.expressions import Expression
from harness.problem.format.load import load_problem, problem_folders
from harness.problem.libraries import LIBRARIES
from harness.problem.package import Problem
from harness.progress.progress import NoProgress
from harness.records.result import Verdict
from harness.solution.model import Solution
from harness.starter.expressions import c_expression

ROOT = Path(__file__).parents[2]
PROBLEMS = ROOT / "problems"
RUN_HERE = ("cuda", "triton", "python")


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    with Grader(open_device("cpu"), NoProgress()) as grader:
        yield grader


def _check(
    grader: Grader, problem: Problem, language: str, folder: Path, dtype: str, arch: str | None
) -> None:
    path = folder / starter.STARTERS[language].file
    starter.write_starter(path, starter.starter_text(problem, language, "check"), force=True)
    solution = read_solution(path, problem=problem.slug)
    assert isinstance(solution, Solution), solution
    assert solution.language == ("pytorch" if language == "python" else language)
    assert solution.dtypes is None
    job = Job(path=str(path), solution=solution, problem=problem)
    result = grader.grade(job, Options(timing=False, dtype=dtype, arch=arch, shrink_s=0))
    assert result.verdict is Verdict.WRONG_ANSWER, (result.verdict, result.message, result.output)
    assert "are wrong" in result.message, result.message  # values, not something out of bounds


@pytest.mark.parametrize("language", RUN_HERE)
@pytest.mark.corpus
@pytest.mark.parametrize("slug", [folder.name for folder in problem_folders(PROBLEMS)])
def test_starters_build_run_and_are_wrong(
    grader: Grader, tmp_path: Path, slug: str, language: str
) -> None:
    problem = load_problem(PROBLEMS / slug)
    _check(grader, problem, language, tmp_path, problem.dtypes[-1], None)


@pytest.mark.corpus
@pytest.mark.nvcc
@pytest.mark.parametrize("language", RUN_HERE)
def test_starters_of_a_problem_that_declares_everything(
    grader: Grader, hard: Problem, tmp_path: Path, language: str
) -> None:
    for dtype in hard.dtypes:
        _check(grader, hard, language, tmp_path, dtype, "sm_90")


def test_starter_comment_describes_each_parameter(hard: Problem) -> None:
    text = starter.starter_text(hard, "cuda", "harness check mine.cu")
    unwrapped = " ".join(line.removeprefix("//").strip() for line in text.splitlines())
    for words in (
        "harness check mine.cu",
        "cuFloatComplex (complex64), cuDoubleComplex (complex128)",
        "row  VAR [m, 2*n], read only",
        "strides [ld, 2], in elements; gaps are neither read nor written",
        "starts at any multiple of an element's size",
        "place  VAR [n, m, 3], read and written",
        "starts at a multiple of 256 bytes",
        "element  unsigned char [m // 2 + 1], to be written",
        "scale  double, = 1/n",
        "m  int, 1 to 20; always tried: 1, 7",
        "ld  size_t, 4*n to 4*n + 3",
    ):
        assert words in unwrapped
    assert not any(line.endswith("\\") for line in text.splitlines())
    assert max(map(len, text.splitlines())) <= 100
    for language in ("triton", "numba", "python"):
        ast.parse(starter.starter_text(hard, language, "check"))


@pytest.mark.parametrize("allowed", [None, (), ("nvtx",), LIBRARIES])
def test_starters_say_how_to_use_libraries_and_use_none(
    hard: Problem, tmp_path: Path, allowed: tuple[str, ...] | None
) -> None:
    text = starter.starter_text(replace(hard, libraries=allowed), "cuda", "harness check mine.cu")
    assert ("uses:" in text) is (allowed != ())
    path = tmp_path / "mine.cu"
    path.write_text(text)
    read = read_solution(path)
    assert isinstance(read, Solution), read
    assert read.uses == ()


def test_init_offers_every_language() -> None:
    assert list(STARTER_LANGUAGES) == list(starter.STARTERS)
    known = {"pytorch" if name == "python" else name for name in STARTER_LANGUAGES}
    assert known == set(LANGUAGES) - {"ptx"}
    assert len({each.file for each in starter.STARTERS.values()}) == len(starter.STARTERS)


def test_starter_text_rejects_an_incomplete_problem(hard: Problem) -> None:
    with pytest.raises(UsageError, match="says too little: no flops"):
        starter.starter_text(replace(hard, missing=("no flops",)), "cuda", "check")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("m*n + 1", "size_t(m) * n + 1"),
        ("(m + 1)*n", "(size_t(m) + 1) * n"),
        ("ceil(n/16)", "(n + 16 - 1) / 16"),
        ("ceil((m + n)/(2*m))", "(size_t(m) + n + (2 * size_t(m)) - 1) / (2 * size_t(m))"),
        ("n // 2 // 3", "n / 2 / 3"),
        ("n // (5 // 3)", "n / (5 / 3)"),
        ("n - (m - 1)", "n - (size_t(m) - 1)"),
        ("2**m", "(size_t(1) << size_t(m))"),
        ("(n + 1)**2", "(n + 1) * (n + 1)"),
        ("min(m, n, 4)", None),
        ("max(m, n) % 5 + floor(n/3) + abs(m) + 2*sqrt(n*n)", None),
        ("2**(m % 4) * 3**3 + sizeof(VAR)", None),
        ("7 - n % 3 - 1", None),
        ("ceil(log2(n)) + 1", None),
        ("3**(m % 3) + ceil(n/3)*2", None),
    ],
)
def test_c_expression_has_the_value_of_the_expression(
    hard: Problem, tmp_path: Path, expression: str, expected: str | None
) -> None:
    sizes = tuple(
        replace(p, type="size_t") if p.name == "n" else p for p in hard.sizes if p.name in "mn"
    )
    problem = replace(hard, parameters=sizes)
    parsed = Expression.parse(expression)
    text = c_expression(parsed, problem)
    assert expected is None or text == expected
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler here")
    cases = [(1, 1), (5, 9), (13, 64), (20, 37)]
    calls = "".join(f'printf("%zu\\n", f({m}, {n}));' for m, n in cases)
    source = tmp_path / "f.cpp"
    source.write_text(
        "#include <cmath>\n#include <cstddef>\n#include <cstdio>\nusing namespace std;\n"
        f"typedef double VAR;\nsize_t f(int m, size_t n) {{ return {text}; }}\n"
        f"int main() {{ {calls} }}\n"
    )
    subprocess.run([compiler, source, "-o", tmp_path / "f"], check=True, capture_output=True)
    got = subprocess.run([tmp_path / "f"], check=True, capture_output=True, text=True).stdout
    values = [parsed.evaluate({"m": m, "n": n, "sizeof(VAR)": 8}) for m, n in cases]
    assert [int(line) for line in got.split()] == values


def test_write_starter_keeps_an_existing_file(tmp_path: Path) -> None:
    path = tmp_path / "a/b/c.cu"
    starter.write_starter(path, "mine", force=False)
    with pytest.raises(UsageError, match="--force"):
        starter.write_starter(path, "other", force=False)
    assert path.read_text() == "mine"
    starter.write_starter(path, "other", force=True)
    assert path.read_text() == "other"
    with pytest.raises(UsageError, match="cannot write"):
        starter.write_starter(path / "below.cu", "x", force=False)


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("Ada Lovelace\n", "ada-lovelace"),
        ("Jürgen Groß", "jurgen-gro"),
        ("../../etc", "etc"),
        ("x" * 90, "x" * 32),
    ],
)
def test_author_name_is_from_git(monkeypatch: pytest.MonkeyPatch, name: str, folder: str) -> None:
    monkeypatch.setattr(starter, "_git_name", lambda: name)
    assert starter.author_name() == folder


def test_author_name_without_git_is_the_login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starter, "_git_name", lambda: "山田")
    monkeypatch.setenv("USER", "yamada")
    assert starter.author_name() == "yamada"
    monkeypatch.setattr(starter, "_login", lambda: "")
    assert starter.author_name() == starter.ANONYMOUS


def test_check_command_names_the_problem_outside_its_folder(hard: Problem) -> None:
    path = starter.default_path(hard, "cuda", "ada")
    assert path == Path("solutions/hard/ada/kernel.cu")
    assert starter.check_command(path, hard, "cuda") == f"harness check {path}"
    elsewhere = starter.check_command(Path("a b.py"), hard, "triton")
    assert elsewhere == "harness check 'a b.py' --problem hard"
    with pytest.raises(UsageError, match=r"ends in \.cu"):
        starter.check_command(Path("a.py"), hard, "cuda")
