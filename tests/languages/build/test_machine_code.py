"""Machine code: what nvdisasm writes is read, and comes from builds that were kept here."""

import os
import shutil
from pathlib import Path

import pytest
from support.samples import result

from harness.errors import MachineError
from harness.languages import LANGUAGES
from harness.languages.build import machine_code as module
from harness.languages.build.cache import BuildOutcome, Cache
from harness.languages.build.machine_code import MachineCode, keep, machine_code
from harness.languages.read import read_solution
from harness.problem.format.load import load_problem
from harness.records.build import Build
from harness.records.result import Result
from harness.report.machine_code import machine_code_text
from harness.solution.model import Artifact, Solution, Target

ROOT = Path(__file__).parents[3]
PLACE = "/tmp/x/solution.cu"
LISTING = f"""\t.target\tsm_90a

//--------------------- .text._Z3addPKfPfm --------------------------
\t.section\t.text._Z3addPKfPfm,"ax",@progbits
_Z3addPKfPfm:
.text._Z3addPKfPfm:
\t//## File "{PLACE}", line 6
        /*0000*/                   LDC R1, c[0x0][0x28] ;
\t//## File "/cuda/include/cuda_fp16.hpp", line 549 inlined at "{PLACE}", line 3
\t//## File "{PLACE}", line 3 inlined at "{PLACE}", line 8
\t//## File "{PLACE}", line 8
        /*0010*/               @P0 FADD R2,  R3, R4 ;
\t//## File "/cuda/include/cuda_fp16.hpp", line 549
        /*0020*/                   EXIT ;
.L_x_0:
        /*0030*/                   BRA `(.L_x_0);
        /*0040*/                   NOP;
.L_x_1:

//--------------------- .text.second --------------------------
.text.second:
        /*0000*/                   EXIT ;
        /*0010*/                   NOP;

//--------------------- SYMBOLS --------------------------
\t.type\t\t.nv.reservedSmem.offset0,@object
"""


def test_each_instruction_has_the_line_of_the_file_that_it_comes_from() -> None:
    first, second = module._kernels(LISTING, "solution.cu")
    assert [(each.line, each.address, each.text) for each in first.instructions] == [
        (6, "0000", "LDC R1, c[0x0][0x28]"),
        (3, "0010", "@P0 FADD R2, R3, R4"),
        (0, "0020", "EXIT"),
        (0, "", ".L_x_0"),
        (0, "0030", "BRA `(.L_x_0)"),
    ]
    assert (first.name, second.name) == ("_Z3addPKfPfm", "second")
    assert [each.line for each in second.instructions] == [0]


@pytest.mark.parametrize("text", ["", "\0", "//## File", "  /*0000*/ X\n", ".text.a:\n.text.b:\n"])
def test_what_is_no_listing_has_no_kernels(text: str) -> None:
    assert list(module._kernels(text, "solution.cu")) == []


def test_no_more_is_read_than_can_be_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST", 2)
    (only,) = module._kernels(LISTING, "solution.cu")
    assert len(only.instructions) == 2


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Cache, Result]:
    """A cache that has the build of a result, and an nvdisasm that knows one listing."""
    tool = tmp_path / "tools" / "bin" / "nvdisasm"
    tool.parent.mkdir(parents=True)
    tool.write_text(f"#!/bin/sh\ncat <<'END'\n{LISTING}END\n")
    tool.chmod(0o755)
    monkeypatch.setattr(module, "_tool", lambda _: tool)
    cubin = tmp_path / "a.cubin"
    cubin.write_bytes(b"\x7fELF")
    cache = Cache(tmp_path / "cache")
    found = result(build=Build(seconds=1, cached=False, target="sm_90a"))
    _keep(cubin, found, cache)
    return cache, found


def _keep(cubin: Path, of: Result, cache: Cache, compiler: str = "nvcc 13.0.88") -> None:
    assert of.build is not None
    about = {"solution": of.solution.hash, "problem": of.problem.hash, "dtype": of.dtype}
    keep(
        {"cubin": cubin, "checked": cubin},
        target=of.build.target,
        compiler=compiler,
        cache=cache,
        **about,
    )


def test_it_is_found_by_what_the_record_says(kept: tuple[Cache, Result]) -> None:
    cache, found = kept
    code = machine_code(found, "solution.cu", cache)
    assert code is not None and code.whole
    assert (code.compiler, [each.name for each in code.kernels]) == (
        "nvcc 13.0.88",
        [(shutil.which("c++filt") and "add") or "_Z3addPKfPfm", "second"],
    )
    text = machine_code_text(code)
    assert "    3  0010  @P0 FADD R2, R3, R4\n       0020  EXIT\n.L_x_0:\n" in text
    assert "beginning" not in text
    for update in ({"dtype": "float64"}, {"build": None}):
        assert machine_code(found.model_copy(update=update), "solution.cu", cache) is None
    other = found.solution.model_copy(update={"hash": "other"})
    assert machine_code(found.model_copy(update={"solution": other}), "solution.cu", cache) is None


def test_a_newer_build_of_the_same_takes_its_place(
    kept: tuple[Cache, Result], tmp_path: Path
) -> None:
    cache, found = kept
    _keep(tmp_path / "a.cubin", found, cache, "nvcc 13.1.0")
    code = machine_code(found, "solution.cu", cache)
    assert code is not None and code.compiler == "nvcc 13.1.0"


def test_without_a_tool_or_its_answer_there_is_none(
    kept: tuple[Cache, Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cache, found = kept
    (tmp_path / "tools/bin/nvdisasm").write_text("#!/bin/sh\nexit 1\n")
    assert machine_code(found, "solution.cu", cache) is None
    monkeypatch.setattr(module, "_tool", lambda _: None)
    assert machine_code(found, "solution.cu", cache) is None


def test_a_machine_that_cannot_write_it_out_has_none(
    kept: tuple[Cache, Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise MachineError("cannot use the build cache")

    cache, found = kept
    monkeypatch.setattr(cache, "fetch", refuse)
    assert machine_code(found, "solution.cu", cache) is None


def test_a_cache_that_cannot_be_written_keeps_nothing_and_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "below")
    cache.put("ab" * 32, BuildOutcome(files={"cubin": tmp_path / "file"}))
    assert cache.stored("ab" * 32) is None


def _tools() -> bool:
    return bool(shutil.which("nvcc", path=f"{os.environ['PATH']}:/usr/local/cuda/bin")) and all(
        module._tool(name) for name in ("nvdisasm", "cuobjdump")
    )


@pytest.mark.corpus
@pytest.mark.skipif(not _tools(), reason="no nvcc, or nothing to read its output with")
@pytest.mark.parametrize("kind", ["cpu", "cuda"])
def test_with_nvcc_a_build_for_the_cpu_and_one_for_a_card_are_kept(
    tmp_path: Path, kind: str
) -> None:
    problem = load_problem(ROOT / "problems/vector-add")
    solution = read_solution(ROOT / "solutions/vector-add/samples/naive.cu")
    cache = Cache(tmp_path)
    assert isinstance(solution, Solution)
    target = Target(kind="cpu", timed=False) if kind == "cpu" else Target(kind="cuda")
    built = LANGUAGES["cuda"].build(solution, problem, "float32", target, cache)
    assert isinstance(built, Artifact)
    about = result(build=built.build, solution_hash=solution.hash, problem_hash=problem.hash)
    code = machine_code(about, "solution.cu", cache)
    assert isinstance(code, MachineCode) and code.whole
    lines = solution.text.split("\n")
    of_sum = [each.line for each in code.kernels[0].instructions if each.text.startswith("FADD")]
    assert of_sum and all("+" in lines[line - 1] for line in of_sum)


@pytest.mark.corpus
@pytest.mark.skipif(not _tools(), reason="no nvcc, or nothing to read its output with")
def test_instructions_of_ptx_have_its_lines(tmp_path: Path) -> None:
    problem = load_problem(ROOT / "problems/vector-add")
    solution = read_solution(ROOT / "solutions/vector-add/samples/vector_add.ptx")
    assert isinstance(solution, Solution)
    cache = Cache(tmp_path)
    built = LANGUAGES["ptx"].build(solution, problem, "float32", Target(kind="cuda"), cache)
    assert isinstance(built, Artifact)
    about = result(build=built.build, solution_hash=solution.hash, problem_hash=problem.hash)
    code = machine_code(about, "solution.cu", cache)
    assert code is not None and code.compiler.startswith("ptxas of CUDA ")
    assert [each.name for each in code.kernels] == ["vector_add"]
    lines = solution.text.split("\n")
    for instruction, written in (("FADD", "add.rn.f32"), ("S2R", "%tid.x"), ("STG", "st.global")):
        (found,) = (e for e in code.kernels[0].instructions if e.text.startswith(instruction))
        assert written in lines[found.line - 1], found
