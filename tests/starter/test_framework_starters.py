"""Starters in the Python frameworks are submissions, and run where stand-ins are enough for it."""

import ast
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.problem_texts import span

from harness.errors import UsageError
from harness.frameworks import ALL_DTYPES, FRAMEWORKS
from harness.languages import LANGUAGES
from harness.languages.build.cache import Cache
from harness.languages.read import read_solution
from harness.problem.dtypes import DTYPES
from harness.problem.format.load import load_problem, problem_folders
from harness.problem.package import Problem
from harness.problem.terms import Direction
from harness.records.result import Verdict
from harness.solution.model import BuildFailure, Solution, Target
from harness.starter import STARTERS, starter_text
from harness.starter.python import unravelled

PROBLEMS = Path(__file__).parents[2] / "problems"
SLUGS = [folder.name for folder in problem_folders(PROBLEMS)]
SIZES = {"m": 7, "n": 5, "k": 3, "ld": 21, "ld_a": 4, "ld_b": 6, "ld_c": 8, "batch": 2}


def written(problem: Problem, language: str, folder: Path) -> Solution:
    path = folder / STARTERS[language].file
    path.write_text(starter_text(problem, language, "check"), encoding="utf-8")
    solution = read_solution(path, problem=problem.slug)
    assert isinstance(solution, Solution), solution
    assert solution.language == language
    return solution


def all_starters(problem: Problem) -> Iterator[tuple[str, str]]:
    """In every framework that has one for ``problem``."""
    for language in FRAMEWORKS:
        try:
            yield language, starter_text(problem, language, "check")
        except UsageError as error:
            assert "data types" in str(error), language


@pytest.mark.parametrize("language", FRAMEWORKS)
def test_framework_starters_are_submissions(
    tmp_path: Path, language: str, layouts: Problem
) -> None:
    vector_add = load_problem(PROBLEMS / "vector-add")
    for problem in (vector_add, layouts):
        solution = written(problem, language, tmp_path)
        assert set(solution.dtypes or problem.dtypes) <= set(problem.dtypes)
        cache = Cache(tmp_path / "cache")
        built = LANGUAGES[language].build(solution, problem, "float32", Target(kind="cpu"), cache)
        assert isinstance(built, BuildFailure)
        assert built.verdict is Verdict.NOT_EXECUTABLE_HERE, built.message
        assert "runs on NVIDIA GPUs alone" in built.message


@pytest.mark.corpus
def test_framework_starters_use_no_undefined_name(
    tmp_path: Path, hard: Problem, layouts: Problem, single: Problem
) -> None:
    problems = [*(load_problem(PROBLEMS / slug) for slug in SLUGS), hard, layouts, single]
    for problem in problems:
        for language, text in all_starters(problem):
            (solution,) = [n for n in ast.parse(text).body if getattr(n, "name", "") == "solution"]
            assert isinstance(solution, ast.FunctionDef)
            assert [a.arg for a in solution.args.args] == [p.name for p in problem.parameters]
            (tmp_path / f"{language}_{problem.slug}_{len(problem.dtypes)}.py").write_text(text)
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", "F"]
    # Unused names are what a first version is made of.
    done = subprocess.run(
        [*command, "--ignore", "F841,F401", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list(tmp_path.iterdir())) > 5 * len(SLUGS)


def test_framework_starters_leave_out_unsupported_dtypes(tmp_path: Path, hard: Problem) -> None:
    vector_add = load_problem(PROBLEMS / "vector-add")
    assert written(vector_add, "numba", tmp_path).dtypes == ("float32", "float64", "int32")
    assert written(vector_add, "cupy", tmp_path).dtypes == (
        "float32", "float16", "float64", "int32",
    )  # fmt: skip
    assert written(vector_add, "cute", tmp_path).dtypes is None
    with pytest.raises(UsageError, match="no starter in TileLang, which lacks its data types"):
        starter_text(hard, "tilelang", "check")
    one = replace(vector_add, dtypes=("bfloat16",))
    with pytest.raises(UsageError, match="no starter in CuPy"):
        starter_text(one, "cupy", "check")


def test_frameworks_take_known_dtypes_only() -> None:
    assert set(DTYPES) == ALL_DTYPES
    for framework in FRAMEWORKS.values():
        assert framework.takes <= ALL_DTYPES, framework.name
        assert framework.template.is_file()


def test_unravelled_gives_the_indices_of_each_element() -> None:
    lengths = [2, 3, 5]
    places = unravelled("e", list(map(str, lengths)))
    found = [tuple(eval(place, {"e": e}) for place in places) for e in range(30)]
    assert found == list(product(*map(range, lengths)))


class Threads:
    """``numba.cuda`` on one thread at a time: ``jit``, ``grid``, and arrays that are NumPy's."""

    def __init__(self) -> None:
        self._element = 0

    def grid(self, _dimensions: int) -> int:
        return self._element

    def jit(self, kernel: Callable[..., None]) -> Any:
        outer = self

        class Launched:
            def __getitem__(self, shape: tuple[int, int]) -> Callable[..., None]:
                def run(*arguments: Any) -> None:
                    arrays = [a.numpy() if hasattr(a, "numpy") else a for a in arguments]
                    for outer._element in range(shape[0] * shape[1]):
                        kernel(*arrays)

                return run

        return Launched()


def stand_ins() -> dict[str, ModuleType]:
    """What starters import, as far as tensors in the computer's memory need it."""
    numba, cupy, nvmath = map(ModuleType, ("numba", "cupy", "nvmath"))
    numba.cuda = Threads()  # type: ignore[attr-defined]
    cupy.asarray = lambda tensor: tensor  # type: ignore[attr-defined]
    return {"numba": numba, "cupy": cupy, "nvmath": nvmath}


@pytest.mark.corpus
@pytest.mark.parametrize("language", ["numba", "cupy", "nvmath"])
def test_framework_starters_write_every_element(
    monkeypatch: pytest.MonkeyPatch,
    language: str,
    layouts: Problem,
    hard: Problem,
    single: Problem,
) -> None:
    torch = pytest.importorskip("torch")
    for name, module in stand_ins().items():
        monkeypatch.setitem(sys.modules, name, module)
    for problem in (*(load_problem(PROBLEMS / slug) for slug in SLUGS), layouts, hard, single):
        if language not in dict(all_starters(problem)):  # Numba has no bfloat16, say
            assert problem.slug == "attention"
            continue
        sizes = {p.name: SIZES.get(p.name, 6) for p in problem.sizes}
        buffers, tensors = {}, {}
        for tensor in problem.tensors:
            dtype = getattr(torch, tensor.data_type(problem.dtypes[0]).name)
            buffer = torch.full((span(tensor, sizes) + 3,), 77, dtype=dtype)
            buffers[tensor.name] = buffer
            layout = tensor.dimensions(sizes), tensor.steps(sizes)
            tensors[tensor.name] = buffer.as_strided(*layout)
        scope: dict[str, Any] = {}
        exec(starter_text(problem, language, "check"), scope)
        values = {**sizes, **tensors, **{p.name: 0.5 for p in problem.scalars}}
        scope["solution"](*(values[p.name] for p in problem.parameters))
        for tensor in problem.tensors:
            written = tensors[tensor.name]
            expected = 0 if tensor.direction is Direction.OUT else 77
            assert bool((written == expected).all()), (problem.slug, tensor.name)
            others = buffers[tensor.name].numel() - written.numel()
            if expected == 0:  # and nothing beside it
                assert int((buffers[tensor.name] == 77).sum()) == others
