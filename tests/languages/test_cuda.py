"""Building CUDA files: each file under files/bad says in its first line what it must get."""

import ctypes
import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from support.corpus import rest_in_corpus
from support.tools import needs_nvcc

from harness.errors import MachineError
from harness.languages import LANGUAGES
from harness.languages.build import compiler, cuda
from harness.languages.build.cache import Cache
from harness.languages.read import read_solution
from harness.problem.format.load import load_problem
from harness.problem.package import Problem
from harness.problem.terms import Limits
from harness.records.result import Verdict
from harness.solution.model import Artifact, BuildFailure, Solution, Target

pytestmark = [pytest.mark.nvcc, needs_nvcc]

FILES = Path(__file__).parent / "files"
PACKAGES = Path(__file__).parents[1] / "support/packages"
BAD = sorted((FILES / "bad").glob("*.cu"))
CARD = Target(kind="cuda")
SIGNATURE = (
    "void solution(const VAR* a, const VAR* b, VAR* out, float alpha, size_t m, size_t n, size_t k)"
)


def read(path: Path) -> Solution:
    solution = read_solution(path)
    assert isinstance(solution, Solution), solution
    return solution


def build(
    path: Path, problem: Problem, cache: Cache, dtype: str = "float32", target: Target = CARD
) -> Artifact | BuildFailure:
    return LANGUAGES["cuda"].build(read(path), problem, dtype, target, cache)


def built(*args: object, **more: object) -> Artifact:
    artifact = build(*args, **more)  # type: ignore[arg-type]
    assert isinstance(artifact, Artifact), artifact
    return artifact


def failed(*args: object, **more: object) -> BuildFailure:
    failure = build(*args, **more)  # type: ignore[arg-type]
    assert isinstance(failure, BuildFailure)
    return failure


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("package", "name", "dtype"),
    [
        ("rotate", "plain.cu", "complex64"),
        ("rotate", "by_parts.cu", "complex128"),
        ("select", "plain.cu", "uint8"),
        ("select", "plain.cu", "int64"),
    ],
)
def test_complex_numbers_integers_and_booleans(
    shared_cache: Cache, package: str, name: str, dtype: str
) -> None:
    folder = PACKAGES / package
    path = folder / "examples/accepted" / name
    assert built(path, load_problem(folder), shared_cache, dtype=dtype).library is not None


@pytest.mark.parametrize("dtype", rest_in_corpus(["float32", "float16"]))
def test_a_correct_file_compiles(problem: Problem, shared_cache: Cache, dtype: str) -> None:
    artifact = built(FILES / "good/tiled.cu", problem, shared_cache, dtype=dtype)
    assert (artifact.kind, artifact.checked) == ("library", None)
    assert artifact.build.target == "sm_90a"
    (kernel,) = artifact.build.kernels
    assert (kernel.name, kernel.shared_bytes) == ("product", 2048)
    assert kernel.registers > 10
    assert artifact.build.log == ""
    assert_loads(artifact)


@pytest.mark.corpus
def test_constexpr_functions_and_device_lambdas(problem: Problem, shared_cache: Cache) -> None:
    assert_loads(built(FILES / "good/relaxed.cu", problem, shared_cache))


def assert_loads(artifact: Artifact) -> None:
    """The library exports both functions, the second of which has an answer without a GPU."""
    assert artifact.library is not None
    library = ctypes.CDLL(str(artifact.library))
    assert library.solution
    message = ctypes.create_string_buffer(b"x" * 63, 64)
    library.harness_last_error(message, ctypes.c_size_t(8))
    assert len(message.value) <= 7
    library.harness_last_error(None, ctypes.c_size_t(0))


@pytest.mark.corpus
def test_hopper_code_has_its_own_instructions(
    problem: Problem, shared_cache: Cache, tmp_path: Path
) -> None:
    source = f"""
        __global__ void kernel(VAR* out) {{
          asm volatile("wgmma.fence.sync.aligned;");
          asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        }}
        {SIGNATURE} {{ kernel<<<1, 128>>>(out); }}
    """
    path = tmp_path / "wgmma.cu"
    path.write_text(source)
    assert built(path, problem, shared_cache).build.target == "sm_90a"
    assert failed(path, problem, shared_cache, target=Target(kind="cuda", arch="sm_80"))


@pytest.mark.parametrize("path", rest_in_corpus(BAD), ids=lambda path: path.stem)
def test_a_wrong_file_has_its_verdict_and_line(
    problem: Problem, shared_cache: Cache, path: Path
) -> None:
    header = path.read_text().partition("\n")[0]
    match = re.fullmatch(r"// expect: (\w+) (\d+) (.*)", header)
    assert match
    failure = failed(path, problem, shared_cache)
    assert failure.verdict == match[1]
    if match[2] != "0":
        assert failure.message.startswith(f"{path}:{match[2]}:"), failure.message
    assert match[3] in failure.message + failure.log
    for private in ("harness-build", "prelude.h", "/tmp/tmpxft"):
        assert private not in failure.message + failure.log


def test_the_message_names_the_submitted_file(
    problem: Problem, shared_cache: Cache, tmp_path: Path
) -> None:
    text = (FILES / "bad/undefined_name.cu").read_text()
    path = tmp_path / "a b; --x \\1 &&" / "good.cu"  # hostile, but harmless: no option, no pattern
    path.parent.mkdir()
    path.write_text(text)
    assert failed(path, problem, shared_cache).message.startswith(f"{path}:4: error:")


@pytest.mark.corpus
def test_the_cache_serves_any_name(
    problem: Problem, cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first.cu", tmp_path / "second.cu"
    for path in (first, second):
        path.write_text((FILES / "bad/undefined_name.cu").read_text())
    assert str(first) in failed(first, problem, cache).log
    monkeypatch.setattr(compiler, "run_limited", None)  # no compiler is called again
    failure = failed(second, problem, cache)
    assert str(second) in failure.log
    assert str(first) not in failure.log


@pytest.mark.corpus
def test_the_cache_hits_only_for_the_same_source_and_target(problem: Problem, cache: Cache) -> None:
    path = FILES / "good/tiled.cu"
    with ThreadPoolExecutor(3) as pool:
        artifacts = list(pool.map(lambda _: built(path, problem, cache), range(3)))
    assert sorted(artifact.build.cached for artifact in artifacts) == [False, True, True]
    assert len({artifact.library for artifact in artifacts}) == 1
    other = built(path, problem, cache, target=Target(kind="cuda", arch="sm_80"))
    assert (other.build.cached, other.build.target) == (False, "sm_80")


def test_a_target_nvcc_does_not_know_is_the_machines_fault(problem: Problem, cache: Cache) -> None:
    with pytest.raises(MachineError, match="sm_99"):
        build(FILES / "good/tiled.cu", problem, cache, target=Target(kind="cuda", arch="sm_99"))


def test_an_nvcc_that_does_not_say_that_it_lacks_room_is_told_of_none(
    problem: Problem, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda, "has_less", lambda *_: True)
    told = (
        r"cannot compile an empty kernel for sm_99a?:\n(.|\n)+\nno space left on the disk .*TMPDIR"
    )
    with pytest.raises(MachineError, match=told):
        build(FILES / "good/tiled.cu", problem, cache, target=Target(kind="cuda", arch="sm_99"))


@pytest.mark.corpus
def test_a_prototype_nvcc_does_not_understand_is_not_the_submissions_fault(
    problem: Problem, cache: Cache
) -> None:
    strange = replace(problem.parameters[0], type="no_such_type")
    broken = replace(problem, parameters=(strange, *problem.parameters[1:]))
    with pytest.raises(MachineError, match="empty kernel"):
        build(FILES / "good/tiled.cu", broken, cache)


BOMBS = {
    "templates": (
        "template<int N, int M> struct B { using L = typename B<N - 1, 2 * M>::T;"
        " using R = typename B<N - 1, 2 * M + 1>::T; using T = int; };"
        "template<int M> struct B<0, M> { using T = int; }; B<28, 0>::T x;\n"
    ),
    "endless": '#include "/dev/zero"\n',
}


@pytest.mark.corpus
@pytest.mark.parametrize("bomb", BOMBS)
def test_compiler_bombs_end_within_their_limits(
    problem: Problem, cache: Cache, tmp_path: Path, bomb: str
) -> None:
    path = tmp_path / "bomb.cu"
    path.write_text(BOMBS[bomb] + SIGNATURE + " {}\n")
    limited = replace(problem, limits=Limits(build_s=1.0))
    started = time.monotonic()
    failure = failed(path, limited, cache)
    assert time.monotonic() - started < 60
    assert failure.verdict in (Verdict.TIME_LIMIT, Verdict.MEMORY_LIMIT, Verdict.COMPILE_ERROR)
    assert not list(cache.root.glob("??/*/library"))


@pytest.mark.corpus
def test_a_flood_of_errors_is_cut(problem: Problem, shared_cache: Cache, tmp_path: Path) -> None:
    path = tmp_path / "flood.cu"
    path.write_text("#define A int a a;\n#define B A A A A A A A A A A\n" + "B B B B B B B\n" * 500)
    failure = failed(path, problem, shared_cache)
    assert failure.verdict is Verdict.COMPILE_ERROR
    assert len(failure.log) < 100_000
    assert len(failure.message) < 1000


def test_an_include_of_itself_ends(problem: Problem, shared_cache: Cache, tmp_path: Path) -> None:
    path = tmp_path / "again.cu"
    path.write_text('#include "solution.cu"\n')
    assert failed(path, problem, shared_cache).verdict is Verdict.COMPILE_ERROR
