import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.frameworks import FRAMEWORKS, Framework
from harness.languages import LANGUAGES
from harness.languages.build import framework_imports
from harness.languages.build.cache import Cache
from harness.languages.read import read_solution
from harness.problem.package import Problem
from harness.records.result import Verdict
from harness.solution.model import Artifact, BuildFailure, Solution, Target
from harness.solution.suffixes import SOURCES

ROOT = Path(__file__).parents[2]
ENTRY = "\ndef solution(a, b, out, alpha, m, n, k): pass\n"
NAMES = sorted(FRAMEWORKS)


def read(text: str, folder: Path) -> Solution:
    path = folder / "kernel.py"
    path.write_text(text)
    solution = read_solution(path, problem="product")
    assert isinstance(solution, Solution)
    return solution


def build(
    name: str, target: Target, problem: Problem, cache: Cache, folder: Path, entry: str = ENTRY
) -> Artifact | BuildFailure:
    solution = read(f"import {FRAMEWORKS[name].imported}\n{entry}", folder)
    assert solution.language == name
    return LANGUAGES[name].build(solution, problem, "float32", target, cache)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Framework, "version", lambda _: "1.0")
    monkeypatch.setattr(framework_imports, "import_fault", lambda _: None)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, installed: None) -> list[str]:
    """Frameworks that were imported by themselves, in vain."""
    names: list[str] = []

    def fault(framework: Framework) -> framework_imports.ImportFault:
        names.append(framework.name)
        return framework_imports.ImportFault("is broken", "mend it")

    monkeypatch.setattr(framework_imports, "import_fault", fault)
    return names


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """What was asked once is asked again in the next test."""
    framework_imports._asked.cache_clear()
    yield
    framework_imports._asked.cache_clear()


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("import tilelang.language as T", "tilelang"),
        ("import cutlass.cute as cute", "cute"),
        ("from cutlass import cute", "cute"),
        ("import cuda.tile as ct", "cutile"),
        ("from cuda import tile as ct", "cutile"),
        ("from cuda import (\n    bindings,\n    tile,\n)", "cutile"),
        ("from cuda.tile import kernel", "cutile"),
        ("import nvmath", "nvmath"),
        ("from numba import cuda", "numba"),
        ("import cupy as cp", "cupy"),
        ("import cupyx", "pytorch"),
        ("import cuda.bindings.driver as cuda", "pytorch"),
        ("from cuda import core", "pytorch"),
        ("from . import cupy", "pytorch"),
        ("from torch import cupy", "pytorch"),
        ("# import cupy", "pytorch"),
        ("s = 'import cupy'", "pytorch"),
        # What builds on another goes first.
        ("import cupy, nvmath", "nvmath"),
        ("import cupy\nfrom numba import cuda", "numba"),
        ("import cuda.bindings.driver as cuda\nimport cutlass", "cute"),
        ("import cupy\nimport triton", "triton"),
    ],
)
def test_a_file_is_known_by_its_imports(text: str, language: str, tmp_path: Path) -> None:
    assert read(text, tmp_path).language == language


def test_every_language_has_an_extension_that_is_looked_for() -> None:
    assert {language.suffix for language in LANGUAGES.values()} == set(SOURCES)


def test_every_framework_is_an_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for name, framework in FRAMEWORKS.items():
        (package, *_) = extras[name]
        assert package.split(">=")[0].split("[")[0] in framework.distributions
        assert f"kernel-harness[{name}]" in framework.remedy


@pytest.mark.parametrize("name", NAMES)
def test_without_a_gpu_a_framework_is_not_executable_here(
    name: str, problem: Problem, cache: Cache, tmp_path: Path, installed: None
) -> None:
    built = build(name, Target(kind="cpu"), problem, cache, tmp_path)
    assert isinstance(built, BuildFailure)
    assert built.verdict is Verdict.NOT_EXECUTABLE_HERE
    assert FRAMEWORKS[name].title in built.message
    assert "there is none here" in built.message


@pytest.mark.parametrize("name", NAMES)
def test_a_package_that_is_missing_is_named_with_what_to_install(
    name: str, problem: Problem, cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Framework, "version", lambda _: None)
    built = build(name, Target(kind="cuda"), problem, cache, tmp_path)
    assert isinstance(built, BuildFailure)
    assert built.verdict is Verdict.NOT_EXECUTABLE_HERE
    assert f"pip install 'kernel-harness[{name}]'" in built.message


def test_a_card_that_is_too_old_is_named(
    problem: Problem, cache: Cache, tmp_path: Path, installed: None
) -> None:
    built = build("cute", Target(kind="cuda", arch="sm_75"), problem, cache, tmp_path)
    assert isinstance(built, BuildFailure)
    assert built.verdict is Verdict.NOT_EXECUTABLE_HERE
    assert "needs a card of sm_80 or newer; this one is sm_75" in built.message


@pytest.mark.parametrize("name", NAMES)
def test_a_syntax_error_goes_before_a_missing_gpu(
    name: str, problem: Problem, cache: Cache, tmp_path: Path
) -> None:
    built = build(name, Target(kind="cpu"), problem, cache, tmp_path, entry="def solution(:")
    assert isinstance(built, BuildFailure)
    assert built.verdict is Verdict.COMPILE_ERROR


def test_a_program_names_the_language(
    problem: Problem, cache: Cache, tmp_path: Path, installed: None
) -> None:
    built = build("cupy", Target(kind="cuda"), problem, cache, tmp_path)
    assert isinstance(built, Artifact)
    assert (built.kind, built.language) == ("python", "cupy")


@pytest.mark.parametrize("name", NAMES)
def test_a_framework_that_does_not_work_here_is_not_the_submissions_fault(
    name: str, problem: Problem, cache: Cache, tmp_path: Path, asked: list[str]
) -> None:
    for _ in range(2):
        built = build(name, Target(kind="cuda"), problem, cache, tmp_path)
        assert isinstance(built, BuildFailure)
        assert built.verdict is Verdict.NOT_EXECUTABLE_HERE
        assert built.message == "is broken: mend it (harness doctor)"
    assert asked == [name], "it is asked once"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import torch", []),
        ("import cupyx", []),
        ("import triton\nimport cupy", ["cupy"]),
        ("import triton\nfrom cuda import tile as ct", ["cutile"]),
        ("import triton\nimport cuda.tiles", []),
        ("import triton\nfrom numba import cuda, njit", ["numba"]),
        # It can do without, as far as anybody knows.
        ("import triton\ntry:\n    import cupy\nexcept ImportError: cupy = None", []),
        ("import triton\ndef other():\n    import cupy", []),
        # Numba compiles callbacks.
        ("import nvmath\nf = nvmath.fft.compile_epilog", ["nvmath", "numba"]),
        ("import nvmath.device", ["nvmath", "numba"]),
        ("import nvmath  # not compile_epilog", ["nvmath"]),
        ("import nvmath, cupy", ["nvmath", "cupy"]),
    ],
)
def test_what_a_file_cannot_do_without_is_asked_for(
    text: str,
    expected: list[str],
    problem: Problem,
    cache: Cache,
    tmp_path: Path,
    installed: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names: list[str] = []
    monkeypatch.setattr(framework_imports, "import_fault", lambda each: names.append(each.name))
    solution = read(text + ENTRY, tmp_path)
    python = LANGUAGES["pytorch" if solution.language == "triton" else solution.language]
    built = python.build(solution, problem, "float32", Target(kind="cuda"), cache)
    assert isinstance(built, Artifact)
    assert names == expected


def test_a_submission_cannot_claim_that_a_framework_is_broken(
    problem: Problem, cache: Cache, tmp_path: Path, installed: None
) -> None:
    text = "raise ImportError('Numba needs NumPy 2.2 or less')\n" + ENTRY
    assert isinstance(
        build("numba", Target(kind="cuda"), problem, cache, tmp_path, entry=text), Artifact
    )


def test_what_a_busy_machine_would_explain_is_left_to_the_runner(
    problem: Problem,
    cache: Cache,
    tmp_path: Path,
    installed: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fault = framework_imports.ImportFault("takes long", "wait", certain=False)
    monkeypatch.setattr(framework_imports, "import_fault", lambda _: fault)
    assert isinstance(build("cupy", Target(kind="cuda"), problem, cache, tmp_path), Artifact)
