"""Starters in PTX: their headers are read, they assemble, and they write what they are to write."""

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from harness.errors import UsageError
from harness.languages import LANGUAGES
from harness.languages.build.cache import Cache
from harness.languages.read import read_solution
from harness.problem.expressions import Expression
from harness.problem.format.load import load_problem, problem_folders
from harness.problem.model import Direction, Problem, Role
from harness.records.result import Verdict
from harness.solution.launches import read_launches
from harness.solution.model import BuildFailure, Solution, Target
from harness.starter import starter_text

PROBLEMS = Path(__file__).parents[2] / "problems"
SLUGS = [folder.name for folder in problem_folders(PROBLEMS)]
SIZES = {"m": 7, "n": 5, "k": 3, "ld": 21, "ld_a": 4, "ld_b": 6, "ld_c": 8, "batch": 2}
WIDE = 1 << 40
"""How far apart tensors lie."""

_LINE = re.compile(r"(?:@(%\w+)\s+)?([\w.]+)\s*([^;]*);")
_PARTS = re.compile(r"[^,\[\]{}\s]+")
_CALCULATED = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a // b,
    "rem": lambda a, b: a % b,
    "min": min,
    "max": max,
    "mad": lambda a, b, c: a * b + c,
    "mov": lambda a: a,
    "cvt": lambda a: a,
    "cvta": lambda a: a,
    "setp": lambda a, b: a >= b,
}


def executed(body: str, values: Mapping[str, Any]) -> list[tuple[int, bool]]:
    """The addresses that one thread stores to, and whether what it stores was loaded from there.

    As much of PTX as starters are written in. ``values`` are those of parameters and of the special
    registers; any other instruction is a KeyError.
    """
    registers: dict[str, Any] = dict(values)
    stored = []
    for predicate, instruction, rest in _LINE.findall(re.sub(r"//[^\n]*|\w+:", "", body)):
        operation, *kinds = instruction.split(".")
        operands = _PARTS.findall(rest)
        if not operation or (predicate and not registers[predicate]):
            continue  # a declaration, or a branch that is not taken
        if operation in ("bra", "ret"):
            break
        if operation == "ld" and kinds[0] == "global":
            registers.update(dict.fromkeys(operands[:-1], ("from", registers[operands[-1]])))
        elif operation == "st":
            address, kept = registers[operands[0]], [registers[name] for name in operands[1:]]
            stored.append((address, kept == [("from", address)] * len(kept)))
        elif operation == "ld":
            registers[operands[0]] = registers[operands[1]]
        else:
            known = [
                registers[each] if each in registers else number(each) for each in operands[1:]
            ]
            registers[operands[0]] = _CALCULATED[operation](*known)
    return stored


def number(text: str) -> int:
    """A literal: ``12``, or ``0f00000000``, which is 0."""
    return int(text, 16 if text[1:2] in ("f", "d") else 10)


def sizes_of(problem: Problem) -> dict[str, Any]:
    """Small sizes, and a number for each scalar."""
    sizes: dict[str, Any] = {p.name: SIZES.get(p.name, 6) for p in problem.sizes}
    return {**sizes, **{p.name: 0.5 for p in problem.scalars}}


def check(text: str, problem: Problem, dtype: str) -> None:
    """Every thread of every launch stores one element of its output, and all do so once."""
    sizes = sizes_of(problem)
    given = {p.name: sizes.get(p.name, WIDE * (i + 1)) for i, p in enumerate(problem.parameters)}
    launches = read_launches(text, problem)
    assert len(launches) == len(problem.outputs)
    for launch, output in zip(launches, problem.outputs, strict=True):
        told = launch.at(sizes, 0)
        body = text.split(f".entry {launch.kernel}(")[1].split("{", 1)[1].split("\n}")[0]
        stored = []
        for block, thread in product(range(told["grid"][0]), range(told["block"][0])):
            special = {"%ctaid.x": block, "%ntid.x": told["block"][0], "%tid.x": thread}
            stored += executed(body, {**given, **special})
        steps = output.steps(sizes)
        width = output.data_type(dtype).itemsize
        expected = [
            given[output.name] + width * sum(i * s for i, s in zip(place, steps, strict=True))
            for place in product(*map(range, output.dimensions(sizes)))
        ]
        assert sorted(address for address, _ in stored) == sorted(expected)
        assert {kept for _, kept in stored} == {output.direction is Direction.INOUT}


@pytest.mark.parametrize("slug", SLUGS)
def test_every_element_is_written_once(slug: str) -> None:
    problem = load_problem(PROBLEMS / slug)
    check(starter_text(problem, "ptx", "check"), problem, problem.dtypes[0])


def test_whatever_a_problem_may_declare(hard: Problem, layouts: Problem) -> None:
    for problem in (hard, layouts):
        for dtype in problem.dtypes:
            one = replace(problem, dtypes=(dtype,))
            check(starter_text(one, "ptx", "check"), one, dtype)


SHAPES = [
    "min(m, n, 4)",
    "max(m, n) % 5 + floor(n/3) + abs(m)",
    "(n + 1)**2 - -2",
    "ceil((m + n)/(2*m)) * sizeof(VAR)",
    "7 - n % 3 - 1 + +1",
    "2**2 * 1",
]


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_are_worked_out(hard: Problem, shape: str) -> None:
    parsed = Expression.parse(shape)
    outputs = {"norm": (parsed, parsed)}
    parameters = (replace(p, shape=outputs.get(p.name, p.shape)) for p in hard.parameters)
    problem = replace(hard, parameters=tuple(parameters), dtypes=("complex64",))
    text = starter_text(problem, "ptx", "check")
    body = text.split(".entry fill_norm(")[1].split("{", 1)[1]
    sizes = sizes_of(problem)
    given = {p.name: sizes.get(p.name, 0) for p in problem.parameters}
    count = int(parsed.evaluate({**sizes, "sizeof(VAR)": 8})) ** 2
    for thread, stores in ((count - 1, 1), (count, 0)):
        special = {"%ctaid.x": 0, "%ntid.x": 256, "%tid.x": thread}
        assert len(executed(body, {**given, **special})) == stores


@pytest.mark.parametrize("shape", ["ceil(log2(n)) + 1", "2**m", "n + 0.5"])
def test_what_takes_more_than_whole_numbers_is_refused(hard: Problem, shape: str) -> None:
    parsed = (Expression.parse(shape),)
    parameters = (replace(p, shape=parsed) if p.name == "norm" else p for p in hard.parameters)
    with pytest.raises(UsageError, match="start in another language"):
        starter_text(replace(hard, parameters=tuple(parameters)), "ptx", "check")


def built(problem: Problem, dtype: str, target: Target, folder: Path) -> BuildFailure:
    """What the language makes of the starter without a card: all is checked, nothing runs."""
    path = folder / "kernel.ptx"
    path.write_text(starter_text(problem, "ptx", "check"), encoding="utf-8")
    solution = read_solution(path, problem=problem.slug)
    assert isinstance(solution, Solution)
    assert (solution.language, solution.dtypes) == ("ptx", (problem.dtypes[0],))
    failure = LANGUAGES["ptx"].build(solution, problem, dtype, target, Cache(folder / "cache"))
    assert isinstance(failure, BuildFailure)
    assert failure.verdict is Verdict.NOT_EXECUTABLE_HERE, failure.message
    return failure


@pytest.mark.parametrize("slug", SLUGS)
def test_header_and_parameters_fit(tmp_path: Path, slug: str) -> None:
    problem = load_problem(PROBLEMS / slug)
    built(problem, problem.dtypes[0], Target(kind="cpu"), tmp_path)


@pytest.mark.nvcc
@pytest.mark.parametrize("slug", ["vector-add", "gemm-alpha-beta", "fft-filter", "row-reduction"])
def test_it_assembles(tmp_path: Path, slug: str, hard: Problem) -> None:
    problem = load_problem(PROBLEMS / slug)
    for each in (*(replace(problem, dtypes=(dtype,)) for dtype in problem.dtypes), hard):
        target = Target(kind="cpu", arch="sm_90")
        failure = built(each, each.dtypes[0], target, tmp_path)
        assert failure.build is not None
        names = {kernel.name for kernel in failure.build.kernels}
        assert names == {f"fill_{output.name}" for output in each.outputs}


def test_it_is_ascii_and_says_which_type_it_is_for(hard: Problem) -> None:
    text = starter_text(replace(hard, title="C ← αAB über “x”"), "ptx", "harness check é.ptx")
    assert text.isascii()
    assert text.startswith("// dtypes: complex64\n")
    assert "uber" in text
    assert all(p.name in text for p in hard.parameters if p.role is Role.TENSOR)
