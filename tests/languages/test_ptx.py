import re
from pathlib import Path

import pytest

from harness.languages import LANGUAGES, ptx
from harness.languages.build.cache import Cache
from harness.languages.build.toolchain import NvccNotFound
from harness.languages.ptx import check_fit, entries
from harness.languages.read import read_solution
from harness.problem.format.load import load_problem
from harness.problem.package import Problem
from harness.records.result import Verdict
from harness.solution.launches import LaunchError, read_launches
from harness.solution.model import Artifact, BuildFailure, Solution, Target

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "solutions/vector-add/samples/vector_add.ptx"
CARD, CPU = Target(kind="cuda"), Target(kind="cpu")


@pytest.fixture(scope="module")
def vector_add() -> Problem:
    return load_problem(ROOT / "problems/vector-add")


@pytest.fixture
def no_nvcc(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_nvcc() -> None:
        raise NvccNotFound

    monkeypatch.setattr(ptx, "find_nvcc", find_nvcc)


def build(
    text: str, problem: Problem, target: Target, cache: Cache, folder: Path
) -> Artifact | BuildFailure:
    path = folder / "kernel.ptx"
    path.write_text(text)
    solution = read_solution(path, problem=problem.slug)
    assert isinstance(solution, Solution)
    assert solution.language == "ptx"
    return LANGUAGES["ptx"].build(solution, problem, "float32", target, cache)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (".visible .entry k(.param .u64 a, .param .f32 b) {}", {"k": (8, 4)}),
        (".entry k { ret; }", {"k": ()}),
        (".entry\n k ( ) {}", {"k": ()}),
        (".entry k(.param .u64 .ptr .global .align 16 a)", {"k": (8,)}),
        (".entry k(.param .align 8 .b8 a[24], .param .b16 b)", {"k": (24, 2)}),
        (".weak .entry $k_0(.param .pred p) .maxntid 8 {}", {"$k_0": (0,)}),
        ("// .entry a()\n/* .entry b() */ .entry c()", {"c": ()}),
        ('.file 1 "x.entry d()"\n.func (.param .b32 r) f (.param .b32 a) {}', {}),
        (".entry a() {} .entry b(.param .u8 x) {}", {"a": (), "b": (1,)}),
        ("/* never closed .entry a()", {}),
    ],
)
def test_entries_and_the_bytes_of_their_parameters(
    text: str, found: dict[str, tuple[int, ...]]
) -> None:
    assert entries(text) == found


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ("other()", "no .entry k in the file (there are: other)"),
        ("k()", "k takes 0 parameters, and gets 3: a, alpha, n"),
        ("k(.param .u64 a, .param .f64 b, .param .u64 c)", "parameter 2 of k has 8 bytes; alpha"),
        ("k(.param .u32 a, .param .f32 b, .param .u64 c)", "a is a pointer, of 8"),
        ("k(.param .u64 a, .param .f32 b, .param .u32 c)", "n is a size_t, of 8"),
    ],
)
def test_a_kernel_must_take_what_it_is_given(declared: str, words: str, problem: Problem) -> None:
    header = "// launch: k\n// grid: 1\n// block: 1\n// arguments: a, alpha, n\n"
    text = f"{header}.entry {declared} {{}}\n"
    (launch,) = read_launches(text, problem)
    with pytest.raises(LaunchError, match=re.escape(words)) as refused:
        check_fit(launch, text, problem, "float32")
    assert refused.value.line == 1


def test_a_kernel_that_fits(problem: Problem) -> None:
    header = "// launch: k\n// grid: 1\n// block: 1\n// arguments: a, alpha, n\n"
    text = f"{header}.entry k(.param .u64 a, .param .f32 b, .param .b64 c) {{}}\n"
    check_fit(read_launches(text, problem)[0], text, problem, "float32")


def test_a_card_gets_the_text_and_its_launches(
    vector_add: Problem, cache: Cache, tmp_path: Path, no_nvcc: None
) -> None:
    built = build(SAMPLE.read_text(), vector_add, CARD, cache, tmp_path)
    assert isinstance(built, Artifact)
    assert (built.kind, built.source) == ("ptx", SAMPLE.read_text())
    assert built.launches is not None
    assert built.launches.at({"n": 1000})[0].grid == (4, 1, 1)


def test_without_a_gpu_ptx_is_not_executable_here(
    vector_add: Problem, cache: Cache, tmp_path: Path, no_nvcc: None
) -> None:
    built = build(SAMPLE.read_text(), vector_add, CPU, cache, tmp_path)
    assert isinstance(built, BuildFailure)
    assert built.verdict is Verdict.NOT_EXECUTABLE_HERE
    assert "NVIDIA GPUs alone" in built.message


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("launch: vector_add", "launch: vector_sub", "kernel.ptx:8: launch: no .entry vector_sub"),
        ("block: 256", "block: 2000", "kernel.ptx:10: block: 2000 is 2000"),
        ("x, y, z, n", "x, y, n, z", "kernel.ptx:8: launch: "),
        ("x, y, z, n", "x, y, z", "gets 3: x, y, z"),
    ],
)
def test_a_header_that_does_not_fit_is_found_without_a_gpu(
    old: str, new: str, words: str, vector_add: Problem, cache: Cache, tmp_path: Path, no_nvcc: None
) -> None:
    text = SAMPLE.read_text().replace(".param .u64 n", ".param .u32 n")
    if old != "x, y, z, n":
        text = SAMPLE.read_text()
    built = build(text.replace(old, new, 1), vector_add, CPU, cache, tmp_path)
    assert isinstance(built, BuildFailure)
    assert built.verdict is Verdict.INVALID_SUBMISSION
    assert words in built.message


@pytest.mark.nvcc
@pytest.mark.parametrize("target", [CARD, CPU])
def test_ptxas_names_the_line(
    target: Target, vector_add: Problem, shared_cache: Cache, tmp_path: Path
) -> None:
    text = SAMPLE.read_text().replace("add.rn.f32", "plus.rn.f32")
    line = 1 + text[: text.index("plus.rn.f32")].count("\n")
    built = build(text, vector_add, target, shared_cache, tmp_path)
    assert isinstance(built, BuildFailure)
    assert built.verdict is Verdict.COMPILE_ERROR
    assert f"kernel.ptx, line {line}; error" in built.message
    assert str(shared_cache.root) not in built.log


@pytest.mark.nvcc
def test_ptxas_gives_figures(vector_add: Problem, shared_cache: Cache, tmp_path: Path) -> None:
    built = build(SAMPLE.read_text(), vector_add, CARD, shared_cache, tmp_path)
    assert isinstance(built, Artifact)
    (kernel,) = built.build.kernels
    assert kernel.name == "vector_add"
    assert kernel.registers > 0
    again = build(SAMPLE.read_text(), vector_add, CARD, shared_cache, tmp_path)
    assert isinstance(again, Artifact)
    assert again.build.cached
