"""Loading: what parses, and how every mistake is reported."""

import re
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.problem_texts import BLOCK, MINIMAL, ROOT, Write, span

from harness.commands.common import load_all
from harness.errors import ProblemError, UsageError
from harness.problem.case import FAMILIES, TIMED_FAMILIES, CaseLimits, families
from harness.problem.format.frontmatter import read_front_matter
from harness.problem.format.load import find_problem, load_problem, problem_slugs, versions
from harness.problem.package import Problem
from harness.problem.terms import Direction, Role

SEED = """---
slug: "gemm-multiply-leakyrelu"
title: "GEMM + Element-wise Multiply + LeakyReLU Fusion"
difficulty: "HARD"
author: "sarthak"
tags: ["gemm", "multiply", "leakyrelu", "fusion"]
parameters:
  - name: "matrix_a"
    type: "[VAR]"
    pointer: "true"
    const: "true"
  
  - name: "matrix_b"
    type: "[VAR]"
    pointer: "true"
    const: "true"

  - name: "matrix_c"
    type: "[VAR]"
    pointer: "true"
    const: "true"

  - name: "alpha"
    type: "float"
    pointer: "false"
    constant: "false"

  - name: "output_matrix" 
    type: "[VAR]"
    pointer: "true"
    const: "false"

  - name: "m"
    type: "size_t"
    pointer: "false"
    constant: "false"
    
  - name: "n" 
    type: "size_t"
    pointer: "false"
    constant: "false"
    
  - name: "k"
    type: "size_t"
    pointer: "false"
    constant: "false"
---

(The seed's prose is not ours to copy.)"""  # noqa: W291, W293


def complaints(folder: Path) -> list[str]:
    """What loading complains about, as ``line: key: message``."""
    with pytest.raises(ProblemError) as caught:
        load_problem(folder)
    prefix = f"{folder / 'problem.md'}:"
    lines = str(caught.value).split("\n")
    assert all(line.startswith(prefix) for line in lines)
    return [line.removeprefix(prefix) for line in lines]


def spoil(old: str, new: str) -> str:
    """MINIMAL with one thing changed."""
    assert MINIMAL.count(old) >= 1, old
    return MINIMAL.replace(old, new, 1)


def test_seed_document_parses_and_says_what_it_leaves_open(write: Write) -> None:
    folder = write(SEED, folder="000")
    (folder / "reference.py").unlink()
    problem = load_problem(folder)
    assert problem.slug == "gemm-multiply-leakyrelu"
    assert [p.role for p in problem.parameters] == [Role.TENSOR] * 3 + [
        Role.SCALAR,
        Role.TENSOR,
        Role.SIZE,
        Role.SIZE,
        Role.SIZE,
    ]
    assert [p.name for p in problem.outputs] == ["output_matrix"]
    assert not problem.complete
    assert "no shape for matrix_a" in problem.missing
    assert "no shape for output_matrix" in problem.missing
    assert "no values for alpha" in problem.missing
    assert "no range for k" in problem.missing
    assert "no dtypes" in problem.missing
    assert "no tolerance" in problem.missing
    assert "no reference.py beside problem.md" in problem.missing


@pytest.mark.parametrize("gpus", ['gpus: ["B200"]\n', "gpus: all\n", ""])
def test_a_file_without_parameters_says_where_they_belong(write: Write, gpus: str) -> None:
    text = f'---\nslug: "relu"\ntitle: "ReLU"\ntags: ["activation"]\n{gpus}---\nText.\n'
    problem = load_problem(write(text, folder="relu"))
    assert (problem.parameters, problem.statement) == ((), "Text.")
    assert not problem.complete
    assert problem.missing[0].startswith("no parameters: the arguments of solution, with their")
    assert "docs/reference/problem-format.md" in problem.missing[0]


def test_parameters_that_were_forgotten(write: Write) -> None:
    found = complaints(write(spoil("parameters:", "parameter:")))
    assert "2: parameters: is missing" in found
    assert "7: parameter: unknown key (did you mean parameters?)" in found


def test_shipped_problem(gemm) -> None:
    assert gemm.complete
    assert gemm.dtypes == ("float32", "float16", "bfloat16")
    assert [p.direction for p in gemm.tensors] == [Direction.IN] * 3 + [Direction.OUT]
    assert list(gemm.baselines) == ["pytorch", "compiled"]
    for case in gemm.benchmarks:
        for dtype in gemm.dtypes:
            peak = 67e12 if dtype == "float32" else 990e12
            seconds = max(
                gemm.evaluate(gemm.flops, case, dtype) / peak,
                gemm.evaluate(gemm.bytes, case, dtype) / 3.35e12,
            )
            assert seconds >= 20e-6
        assert gemm.evaluate(gemm.bytes, case, "float32") < 600e6  # forty calls on a card of 24 GB


def test_complete_problem(write: Write) -> None:
    problem = load_problem(write())
    assert problem.complete, problem.missing
    x, s, y, n = problem.parameters
    assert (x.direction, y.direction) == (Direction.IN, Direction.OUT)
    assert (n.low, n.high, n.always) == (1, 100, (1, 33))
    assert s.always == (0.0, 1e-30)
    assert (s.values.kind, s.values.a, s.values.b) == ("uniform", -2, 2)
    assert problem.statement == "Multiply by $s$."
    assert problem.benchmarks == ({"n": 1000, "s": 0.5},)
    assert problem.tolerance is not None
    assert problem.tolerance.accumulator["float16"] == "float32"


def test_values_of_timed_calls(write: Write, block) -> None:
    def named(values: str) -> tuple[str, ...]:
        text = spoil("cases:", f"benchmark_values: {values}\ncases:")
        return load_problem(write(text)).timed_families("float32")

    assert named("[declared]") == ()
    assert named("[mixed, tiny]") == ("mixed", "tiny")
    assert named("[declared, rows]") == ("rows",)
    finite = tuple(f for f in TIMED_FAMILIES if f != "nonfinite")
    assert load_problem(write()).timed_families("float32") == finite
    assert block.timed_families("float32") == TIMED_FAMILIES
    assert block.timed_families("int32") == finite


def test_values_that_are_left_out(write: Write, block) -> None:
    text = spoil("cases:", "without_values: [large, mixed]\ncases:")
    problem = load_problem(write(text))
    assert set(FAMILIES) - set(families(problem)) == {"large", "mixed", "nonfinite"}
    assert problem.timed_families("float32") == tuple(
        f for f in TIMED_FAMILIES if f not in ("large", "nonfinite")
    )
    cases = problem.draw_cases("seed", dtype="float32", room=CaseLimits())
    assert {case.family for case in cases} == set(families(problem))
    with pytest.raises(UsageError) as caught:
        problem.parse_case("n=1,s=1,values=large")
    assert str(caught.value) == "case: scale leaves these values out (values=large)"
    with pytest.raises(UsageError, match=r"unknown family of values 'lage' \("):
        problem.parse_case("n=1,s=1,values=lage")
    left = replace(block, without_values=("nonfinite",))
    assert "nonfinite" not in families(left, "float32")


@pytest.mark.parametrize(
    ("line", "libraries"),
    [
        ("", None),
        ("libraries: any\n", None),
        ("libraries: none\n", ()),
        ("libraries: None\n", ()),
        ("libraries: []\n", ()),
        ("libraries: [CUTLASS, cublaslt, cute]\n", ("cublasLt", "cutlass")),
    ],
)
def test_libraries_that_are_allowed(
    write: Write, line: str, libraries: tuple[str, ...] | None
) -> None:
    problem = load_problem(write(spoil("cases:", f"{line}cases:")))
    assert problem.libraries == libraries


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ("[cublas, cutlas]", "libraries: unknown library 'cutlas' (did you mean cutlass?)"),
        (
            "cublas",
            "libraries: must be any, none or a list of libraries, such as [cublas, cutlass]",
        ),
        ("", "libraries: must be any, none or a list"),
        ("{cublas: 13}", "libraries: must be any, none or a list"),
    ],
)
def test_libraries_that_there_are_not(write: Write, value: str, complaint: str) -> None:
    with pytest.raises(ProblemError) as caught:
        load_problem(write(spoil("cases:", f"libraries: {value}\ncases:")))
    assert complaint in str(caught.value)


def test_no_torch_is_imported(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from harness.problem.format.load import find_problem, problem_slugs;"
        "from harness.problem.signature import c_prototype;"
        f"find_problem(pathlib.Path({str(ROOT / 'problems')!r}), 'gemm-multiply-leakyrelu');"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.replace("\n", "\r\n"),
        lambda t: "\ufeff" + t,
        lambda t: t.rstrip("\n"),
        lambda t: t.replace("pointer: true", 'pointer: "true"'),
        lambda t: t.replace("pointer: true", "pointer: True"),
        lambda t: t.replace("const: true", 'constant: "true"'),
        lambda t: t.replace('"[VAR]"', "[VAR]"),
        lambda t: t.replace('"[VAR]"', "VAR"),
        lambda t: t.replace("  - name: s", "  \n  # the factor\n\n  - name: s   "),
        lambda t: t.replace("const: true", "direction: in"),
        lambda t: t.replace("---", "---  "),
        lambda t: "\n\n" + t,
        lambda t: t.replace("cases: 4", 'cases: "4"'),
    ],
)
def test_quirks_are_accepted(write: Write, change) -> None:
    plain = load_problem(write())
    problem = load_problem(write(change(MINIMAL).encode()))
    assert problem.complete
    assert [(p.name, p.type, p.role, p.direction) for p in problem.parameters] == [
        (p.name, p.type, p.role, p.direction) for p in plain.parameters
    ]
    assert problem.statement == plain.statement
    assert problem.hash != plain.hash


def test_scientific_notation_is_a_number(write: Write) -> None:
    problem = load_problem(write(spoil("{length: 1}", "{length: 1, factor: 1e-3}")))
    assert problem.tolerance is not None
    assert problem.tolerance.factor == 1e-3


def test_hash_covers_the_files_that_matter(write: Write) -> None:
    folder = write()
    before = load_problem(folder).hash
    assert before == load_problem(folder).hash
    (folder / "notes.txt").write_text("no matter")
    assert load_problem(folder).hash == before
    (folder / "baseline.py").write_text("# other\n")
    after = load_problem(folder).hash
    assert after != before
    (folder / "reference.py").write_text("# other\n")
    assert load_problem(folder).hash not in (before, after)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "1: the file is empty"),
        (b" \n\n", "1: the file is empty"),
        (b"# A title\n", "1: no front matter: the file must begin with a line ---"),
        (b"---\nslug: x\n", "1: the front matter is not closed: no second line ---"),
        (b"---\nslug: \xff\n---\n", "2: not UTF-8 (byte 10 is 0xff)"),
        (b"---\n- a\n---\n", "2: the front matter must be a mapping of keys to values"),
        (b"---\njust text\n---\n", "2: the front matter must be a mapping of keys to values"),
        (b"---\na: 'b\n---\n", "not valid YAML"),
        (b"---\na: b\n c: d\n---\n", "3: not valid YAML"),
        (b"---\na: &x 1\nb: *x\n---\n", "2: not valid YAML: anchors and aliases are not allowed"),
        (b"---\na: *x\n---\n", "2: not valid YAML: anchors and aliases"),
        (b"---\na: " + b"[" * 5000 + b"\n---\n", "2: not valid YAML: nested deeper than 8"),
        (b'---\na: "\\UFFFFFFFF"\n---\n', "not valid YAML"),
        (b"---\nx: 1\na: \x07\n---\n", "3: not valid YAML: special characters"),
        (b"---\na: " + b"x" * (70 << 10) + b"\n---\n", "the front matter is larger than"),
        (b"---\na: b\n---\n" + b"x" * (2 << 20), "1: larger than"),
        (b"---\na: b\n...\n---\n", "slug: is missing"),
    ],
)
def test_broken_files(write: Write, content: bytes, complaint: str) -> None:
    assert complaint in complaints(write(content))[0]


def test_no_file(tmp_path: Path) -> None:
    assert complaints(tmp_path) == ["1: there is no such file"]
    (tmp_path / "problem.md").mkdir()
    assert complaints(tmp_path) == ["1: there is no such file"]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("slug: scale", "slog: scale", "2: slog: unknown key (did you mean slug?)"),
        ("slug: scale", "slug: ../up", "2: slug: '../up' is no slug"),
        ("slug: scale", "slug: Scale", "2: slug: 'Scale' is no slug"),
        ("slug: scale", "slug:", "2: slug: must not be empty"),
        ("slug: scale", "slug: [scale]", "2: slug: must be text, not a list"),
        ("slug: scale", 'slug: "sc\\nale"', "2: slug: must be one line of printable"),
        ("slug: scale", "slug: scale\nslug: other", "3: slug: given twice (first on line 2)"),
        (
            "slug: scale",
            "slug: !!python/name:os.system x",
            "python/name:os.system) are not allowed",
        ),
        ("slug: scale", "slug: !mine x", "2: slug: YAML tags (!mine) are not allowed"),
        ("slug: scale", "slug: scale\n[a]: b", "3: a key must be plain text"),
        ("tags: [vector]", "tags: vector", "6: tags: must be a list, not 'vector'"),
        ("cases: 4", "cases: many", "cases: must be a whole number, not 'many'"),
        ("cases: 4", "cases: 4.5", "cases: must be a whole number, not '4.5'"),
        ("cases: 4", "cases: -1", "cases: must be from 0 to 1000, not -1"),
        ("float32, float16", "flaot32", "dtypes[0]: unknown value flaot32 (did you mean float32?)"),
        ("float32, float16", "float32, float32", "dtypes: names a data type twice"),
        ("[float32, float16]", "[]", "dtypes: must have 1 to 256 items, not 0"),
        ("pointer: true", "pointer: yes", "10: parameters[0].pointer: must be true or false"),
        ("    pointer: true\n", "", "parameters[0].pointer: is missing"),
        (
            "pointer: true",
            "pinter: true",
            "pinter: unknown key for a tensor (did you mean pointer?)",
        ),
        ("const: true", "const: true\n    constant: true", "const and constant are the same key"),
        ("    const: true\n", "", "parameters[0].const: is missing"),
        (
            "type: float",
            "type: flot",
            "parameters[1].type: unknown type flot (did you mean float?)",
        ),
        ("name: s\n", "name: 2s\n", "parameters[1].name: '2s' is no identifier"),
        ("name: s\n", "name: class\n", "parameters[1].name: class is a keyword"),
        ("name: s\n", "name: lambda\n", "parameters[1].name: lambda is a keyword"),
        ("name: s\n", "name: blockIdx\n", "parameters[1].name: blockIdx is a keyword"),
        ("name: s\n", "name: __s\n", "parameters[1].name: __s is reserved"),
        ("name: s\n", "name: VAR\n", "parameters[1].name: VAR is reserved"),
        ("name: s\n", "name: n\n", "23: parameters[3].name: n is already the name"),
        ("name: s\n", "name: values\n", "values has another meaning"),
        ("shape: [n]", "shape: [N]", "12: parameters[0].shape: unknown size N (did you mean n?)"),
        ("shape: [n]", "shape: [q]", "unknown size q (sizes: n)"),
        (
            "shape: [n]",
            "shape: [1, 1, 1, 1, 1, 1, 1, 1, n]",
            "parameters[0].shape: must have 0 to 8 items, not 9",
        ),
        ("shape: [n]", "shape: n", "parameters[0].shape: must be a list, not 'n'"),
        ("shape: [n]", "shape: [n*]", "parameters[0].shape[0]: 'n*' is not an arithmetic"),
        (
            "shape: [n]",
            "shape: [n - 1]",
            "'n - 1' is 0, not positive with every size at its lowest",
        ),
        ("shape: [n]", "shape: [n / 3]", "not a whole number"),
        ("const: true", "direction: inn", "direction: unknown value inn (did you mean in?)"),
        ("const: true", "const: true\n    direction: out", "is out, but the parameter is const"),
        ("const: false", "const: true", "7: parameters: no output: one pointer"),
        ("range: [1, 100]", "range: [1]", "range: must have 2 items, not 1"),
        ("range: [1, 100]", "range: [0, 9]", "range[0]: must be from 1 to"),
        ("range: [1, 100]", "range: [9, 1]", "low (9) is greater than high (1)"),
        ("range: [1, 100]", "ranges: [1, 9]", "unknown key for a size (did you mean range?)"),
        ("always: [1, 33]", "always: [1.5]", "always[0]: must be a whole number, not '1.5'"),
        ("always: [0, 1e-30]", "always: [.nan]", "always[0]: must be a finite number, not '.nan'"),
        ("always: [0, 1e-30]", "always: [1e999]", "always[0]: must be a finite number"),
        ("low: -2, high: 2", "low: 2, high: -2", "values.high: must not be less than low"),
        ("low: -2, high: 2", "mean: 1", "unknown key for a uniform distribution"),
        ("distribution: uniform", "distribution: unifrm", "(did you mean uniform?)"),
        ("{n: 1000, s: 0.5}", "{s: 0.5}", "benchmarks[0]: lacks the size n"),
        ("{n: 1000, s: 0.5}", "{n: 5}", "benchmarks[0]: lacks the scalar s"),
        ("{n: 1000, s: 0.5}", "{n: 5, s: 1, q: 2}", "benchmarks[0].q: unknown key (neither a size"),
        ("{n: 1000, s: 0.5}", "{n: 0, s: 1}", "benchmarks[0].n: must be from 1"),
        ("  - {n: 1000, s: 0.5}", "  []", "benchmarks: lists no case"),
        (
            "flops: n",
            "flops: n\nbenchmark_values: [larg]",
            "benchmark_values[0]: unknown value larg",
        ),
        (
            "flops: n",
            "flops: n\nbenchmark_values: []",
            "benchmark_values: must have 1 to 256 items",
        ),
        ("flops: n", "flops: n\nbenchmark_values: [tiny, tiny]", "names a family twice"),
        ("flops: n", "flops: n\nbenchmark_values: [nonfinite]", "no tensor may hold NaN"),
        (
            "flops: n",
            "flops: n\nwithout_values: [declared]",
            "without_values: declared values are never left out",
        ),
        (
            "flops: n",
            "flops: n\nwithout_values: [large, lagre]",
            "without_values[1]: unknown value lagre (did you mean large?)",
        ),
        ("flops: n", "flops: n\nwithout_values: [tiny, tiny]", "names a family twice"),
        ("flops: n", "flops: n\nwithout_values: []", "without_values: must have 1 to 256 items"),
        (
            "flops: n",
            "flops: n\nwithout_values: [tiny, rows]\nbenchmark_values: [declared, rows]",
            "without_values: rows is among benchmark_values",
        ),
        ("flops: n", "flops: k", "flops: unknown size k"),
        ("flops: n", "flops: n - 5", "flops: is negative"),
        ("flops: n", "flops: [n]", "flops: must be an expression"),
        ("{length: 1}", "{lenght: 1}", "tolerance.lenght: unknown key (did you mean length?)"),
        ("{length: 1}", "{factor: 1}", "tolerance.length: is missing"),
        ("{length: 1}", "{length: k}", "tolerance.length: unknown size k"),
        ("{length: 1}", "{length: 1, factor: -1}", "tolerance.factor: must not be negative"),
        ("{length: 1}", "1", "tolerance: must be a mapping"),
        ("{length: 1}", "{length: 1, accumulator: {int8: int8}}", "accumulator.int8: unknown key"),
        ("baseline.py}", "other.py}", "baselines.pytorch: there is no file other.py in the"),
        ("baseline.py}", "../x.py}", "baselines.pytorch: ../x.py must be a path inside"),
        ("baseline.py}", "/etc/passwd}", "baselines.pytorch: /etc/passwd must be a path inside"),
        ("baseline.py}", f"{'x' * 300}}}", "x…: File name too long"),
        ("baseline.py}", f"{'x/' * 3000}x}}", "…: File name too long"),
        ("baseline.py}", r'"a\0b"}', "must be one line of printable characters"),
        ("flops: n", "flops: n\nlimits: {call_s: 0}", "limits.call_s: must be greater than 0"),
        (
            "flops: n",
            "flops: n\nlimits: {calls: 1}",
            "limits.calls: unknown key (did you mean call_s?)",
        ),
    ],
)
def test_one_mistake_one_complaint(write: Write, old: str, new: str, complaint: str) -> None:
    found = complaints(write(spoil(old, new)))
    assert complaint in "\n".join(found)
    # Renaming a thing can make others miss it; nothing else brings more than one complaint.
    follow_up = ("is missing", "lacks the", "unknown size", "unknown key", "is already")
    assert len([line for line in found if not any(f in line for f in follow_up)]) <= 1


def test_complex_types_are_judged(write: Write) -> None:
    text = spoil("[float32, float16]", "[complex64, complex128]")
    assert load_problem(write(text)).missing == ()
    fixed = spoil("dtypes: [float32, float16]", "dtypes: [float32]").replace(
        'type: "[VAR]"\n    pointer: true\n    const: true',
        "type: cuFloatComplex\n    pointer: true\n    const: true",
    )
    assert load_problem(write(fixed)).tensors[0].data_type("float32").name == "complex64"


def test_relations_between_parameters(block) -> None:
    assert block.complete, block.missing
    named = {p.name: p for p in block.parameters}
    x, ld, total = named["x"], named["ld"], named["total"]
    assert x.nonfinite
    assert not named["y"].nonfinite
    assert x.steps({"m": 3, "n": 5, "ld": 7}) == (7, 1)
    assert span(x, {"m": 3, "n": 5, "ld": 7}) == 19
    assert [x.aligned_to(dtype) for dtype in block.dtypes] == [4, 2, 8]
    assert named["y"].aligned_to("float16") == 256
    assert (ld.low, ld.high, ld.derived) == (1, 116, False)
    assert (total.low, total.high, total.derived) == (1, 4000, True)
    single = struct.unpack("f", struct.pack("f", 0.005))[0]
    assert block.benchmarks[0]["total"] == 60000
    assert block.benchmarks[0]["inverse"] == single
    assert block.tolerance is not None
    assert block.tolerance.inputs == {"float32": "tf32"}


def test_factors_may_be_cut_to_their_own_type(write: Write) -> None:
    own = load_problem(write(BLOCK.replace("float32: tf32", "float32: float32")))
    assert own.tolerance is not None
    assert own.tolerance.inputs == {"float32": "float32"}


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("strides: [ld, 1]", "strides: [ld]", "there must be one for each dimension, not 1 for 2"),
        ("strides: [ld, 1]", "strides: [lda, 1]", "strides: unknown size lda (did you mean ld?)"),
        ("strides: [ld, 1]", "strides: [s, 1]", "strides: unknown size s"),
        (
            "strides: [ld, 1]",
            "strides: [1, m - m // 33]",
            "elements overlap: the stride m - m // 33",
        ),
        ("strides: [ld, 1]", "strides: [n - 1, 1]", "'n - 1' is 0, not positive with every size"),
        ("strides: [ld, 1]", "strides: [1, 1]", "elements overlap: the stride 1 is 1, and what"),
        ("[n, n + 16], always: [64]", "[1, 116]", "strides: elements overlap: the stride ld is 1"),
        ("shape: [m, n], strides", "strides", "strides: strides are of no use without a shape"),
        ("alignment: sizeof(VAR)", "alignment: 2", "alignment: 2 is less than the 4 bytes of a"),
        ("alignment: sizeof(VAR)", "alignment: 24", "alignment: must be a power of two of at most"),
        (
            "alignment: sizeof(VAR)",
            "alignment: 512",
            "alignment: must be a power of two of at most",
        ),
        ("alignment: sizeof(VAR)", "alignment: n", "must be a number of bytes or sizeof(VAR), not"),
        ("nonfinite: true", "nonfinite: yes", "nonfinite: must be true or false"),
        ("const: true, shape", "direction: out, shape", "this is written"),
        (
            'type: "[VAR]", pointer: true, const',
            "type: int, pointer: true, const",
            "no NaN of type",
        ),
        ("[n, n + 16]", "[q, n + 16]", "range: unknown size q (sizes: ld, m, n, total)"),
        ("[n, n + 16]", "[s, n + 16]", "range: unknown size s"),
        ("[n, n + 16]", "[n, ld]", "range: ld depends on itself"),
        ("[1, 100]", "[1, ld]", "depends on itself, through"),
        ("[n, n + 16]", "[n, 99]", "the range of ld is empty: 100 is more than 99 with every size"),
        ("[n, n + 16]", "[n/2, n + 16]", "'n/2' is 0.5, not a whole number with every size at its"),
        ("[n, n + 16]", "[n, sizeof(VAR)]", "sizeof(VAR) has no place in a range"),
        ("always: [64]", "always: [999]", "999 is never in the range, which is 1 to 116 at most"),
        ("equals: 1/n", "equals: 1/s", "equals: unknown size s"),
        ("equals: 1/n", "equals: 1/(n - 1)", "divides by zero with every size at its lowest"),
        ("equals: 1/n", "equals: 1/", "'1/' is not an arithmetic"),
        ("equals: 1/n", "equals: 10**39*n", "is too large for a float with"),
        ("equals: m*n", "equals: total", "total depends on itself"),
        ("equals: m*n", "equals: m/n", "is 0.4, not a whole number with every size at its highest"),
        (
            "equals: m*n",
            "equals: 2**31*n",
            "not from -2147483648 to 2147483647 with every size at its lowest",
        ),
        ("equals: m*n", "equals: m*n, range: [1, 2]", "range: what equals something is not drawn"),
        ("equals: m*n", "equals: m*n, always: [1]", "always: what equals something is not drawn"),
        ("{m: 3,", "{total: 15, m: 3,", "total: follows from the sizes (m*n): leave it out"),
        ("ld: 208", "ld: 199", "benchmarks[0]: ld must be from n (200) to n + 16 (216), not 199"),
        ("ld: 208, ", "", "benchmarks[0]: lacks the size ld"),
        ("tf32", "tf23", "inputs.float32: unknown value tf23 (did you mean tf32?)"),
        ("float32: tf32", "int8: tf32", "inputs.int8: unknown key"),
        (
            "shape: [m, n], strides: [ld, 1],",
            "shape: [m, n/2],",
            "'n/2' is 0.5, not a whole number",
        ),
    ],
)
def test_one_mistake_in_a_relation(write: Write, old: str, new: str, complaint: str) -> None:
    assert BLOCK.count(old) >= 1, old
    found = complaints(write(BLOCK.replace(old, new, 1)))
    assert complaint in "\n".join(found)
    follow_up = ("10: parameters[4].strides", "5: parameters[0].shape: tensor x has no shape")
    assert len([line for line in found if not line.startswith(follow_up)]) == 1


def test_a_size_that_is_wrong_for_few_values_is_found(write: Write) -> None:
    """Neither end of the range shows it, what lies between does."""
    found = complaints(
        write(spoil("shape: [n]", "shape: [(n + 1) // 2 * 2 - n + 1 - n // 50 % 2]"))
    )
    assert re.search(r"is 0, not positive with n=\d+", found[0])


def test_output_without_shape_when_others_have_one(write: Write) -> None:
    text = MINIMAL.replace("    const: false\n    shape: [n]\n", "    const: false\n")
    assert complaints(write(text)) == ["18: parameters[2].shape: output y has no shape"]


def test_all_mistakes_at_once_in_the_order_of_the_file(write: Write) -> None:
    text = MINIMAL.replace("slug: scale", "slug: scale\nslug: again\ntitel: x")
    text = text.replace("shape: [n]", "shape: [N]", 1).replace("cases: 4", "cases: x")
    found = complaints(write(text))
    assert [line.split(": ")[1] for line in found] == [
        "slug",
        "titel",
        "parameters[0].shape",
        "cases",
    ]


def test_names_in_complaints_cannot_disturb_a_terminal(write: Write) -> None:
    (found,) = complaints(write(spoil("slug: scale", 'slug: scale\n"\\e[31m": 1')))
    assert "\x1b" not in found
    assert r"\x1b[31m" in found


def test_a_baseline_may_not_be_a_link_out_of_the_package(write: Write, tmp_path: Path) -> None:
    folder = write(spoil("baseline.py}", "link.py}"))
    (tmp_path / "outside.py").write_text("")
    (folder / "link.py").symlink_to(tmp_path / "outside.py")
    assert "leads out of the package" in complaints(folder)[0]


def test_a_baseline_may_be_a_link_that_leads_round(write: Write) -> None:
    folder = write(spoil("baseline.py}", "link.py}"))
    (folder / "link.py").symlink_to("link.py")
    with pytest.raises(ProblemError, match=r"baselines.pytorch: .*link.py"):
        load_problem(folder)


def test_one_impossible_path_spoils_its_own_package(write: Write, tmp_path: Path) -> None:
    write()
    write(spoil("baseline.py}", f"{'x' * 300}}}"), folder="other")
    good, broken = load_all(tmp_path)
    assert ([p.slug for p in good], len(broken)) == (["scale"], 1)


def test_find_by_folder_and_by_slug(write: Write, tmp_path: Path) -> None:
    write(folder="first")
    write("nothing", folder="broken")
    assert find_problem(tmp_path, "first").slug == "scale"
    assert find_problem(tmp_path, "scale").folder == tmp_path / "first"
    assert problem_slugs(tmp_path) == ["broken", "scale"]
    with pytest.raises(UsageError, match=r"no problem 'scael' .*did you mean scale\?"):
        find_problem(tmp_path, "scael")
    with pytest.raises(UsageError, match=r"there are: broken, scale"):
        find_problem(tmp_path, "../first")
    with pytest.raises(ProblemError):
        find_problem(tmp_path, "broken")
    assert problem_slugs(tmp_path / "absent") == []


def test_versions_are_hashes_of_what_loads(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashes = {
        slug: load_problem(write(spoil("slug: scale", f"slug: {slug}"), folder=folder)).hash
        for slug, folder in (("one", "one"), ("two", "zz"), ("three", "three"))
    }
    write("nothing", folder="broken")
    opened = []

    def loading(folder: Path) -> Problem:
        opened.append(folder.name)
        return load_problem(folder)

    monkeypatch.setattr("harness.problem.format.load.load_problem", loading)
    assert versions(tmp_path, ["one", "three"]) == {s: hashes[s] for s in ("one", "three")}
    assert versions(tmp_path, ["two"]) == {"two": hashes["two"]}
    assert opened == ["one", "three", "zz"]  # the others are not loaded
    assert versions(tmp_path, ["broken", "absent"]) == {}
    assert versions(tmp_path, []) == {}
    assert versions(tmp_path / "absent", ["one"]) == {}


_MARKS = [*"\t\n\x00\u2028:-{]'\"?|>\\é", "---", ": ", "- ", "&a", "*a", "!!x", "<<: "]
_pieces = st.sampled_from([*BLOCK.split(" "), *MINIMAL.split("\n"), *MINIMAL.split(" "), *_MARKS])


@settings(max_examples=150, deadline=None)
@given(st.lists(_pieces | st.text(max_size=5), max_size=30), st.booleans(), st.randoms())
def test_nothing_but_problem_errors(tmp_path_factory, pieces, whole: bool, random) -> None:
    folder = tmp_path_factory.mktemp("fuzz")
    lines = MINIMAL.split("\n")
    if whole:
        for piece in pieces[:4]:
            lines.insert(random.randrange(1, len(lines)), piece)
        text = "\n".join(lines)
    else:
        text = "---\n" + " ".join(pieces) + "\n---\n"
    (folder / "problem.md").write_bytes(text.encode(errors="surrogatepass"))
    try:
        load_problem(folder)
    except ProblemError as error:
        assert error.diagnostics


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes(tmp_path_factory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "problem.md"
    path.write_bytes(b"---\n" + content + b"\n---\n")
    try:
        read_front_matter(path)
    except ProblemError as error:
        assert error.diagnostics
