"""One problem on the terminal, or as JSON: all that a contestant has to know."""

import json
import re
from collections.abc import Iterator
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.markdown import Markdown
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from harness.problem import describe as words
from harness.problem.dtypes import DTYPES, PRECISIONS, DtypeKind
from harness.problem.expressions import ExpressionError
from harness.problem.model import (
    COMPLEX,
    CUT_MEAN,
    CUT_SPREAD,
    CUT_WORST,
    SUBNORMALS,
    TRUNCATION,
    Direction,
    Parameter,
    Problem,
    Role,
    Tolerance,
)
from harness.problem.signature import c_prototype, c_type, python_signature
from harness.solution.suffixes import SOURCES
from harness.text.numbers import bytes_, flops, number, seconds
from harness.text.plain import json_text, plain, plain_lines

_FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)
_DISPLAY = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
_CODE_OR_MATHS = re.compile(r"`[^`\n]*`|(?<!\\)\$(?!\s)((?:[^$\n]|\n(?!\s*\n))+?)(?<![\s\\])\$")
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


def render_problem(problem: Problem, console: Console) -> None:
    """Everything about ``problem``, the statement as its author wrote it, maths left as it is."""
    console.print(Text(plain(problem.title), style="bold"))
    facts = [problem.slug, problem.difficulty, *problem.tags]
    console.print(Text(plain(" · ".join(fact for fact in facts if fact)), style="dim"))
    if not problem.complete:
        left_open = "cannot be graded yet: " + "; ".join(problem.missing)
        console.print(Text(plain(left_open), style="yellow"))
    console.print()
    console.print(
        _Harmless(Markdown(readable_maths(plain_lines(problem.statement)), hyperlinks=False))
    )
    for title, part in _parts(problem):
        console.print()
        console.print(Text(title, style="bold"))
        console.print(Padding(part, (0, 0, 0, 2)))


class _Harmless:
    """Markdown, but for what its entities (``&#27;``) and its formatting could bring back.

    A line in which something would be interpreted is shown plainly, without its styles.
    """

    def __init__(self, markdown: Markdown) -> None:
        self._markdown = markdown

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in console.render_lines(self._markdown, options, pad=False):
            text = "".join(segment.text for segment in line)
            if plain(text) == text:
                yield from line
            else:
                yield Segment(plain(text))
            yield Segment.line()


def problem_json(problem: Problem) -> str:
    """The same as one JSON object; amounts of the benchmarks are for the first data type."""
    tolerance = problem.tolerance
    data: dict[str, Any] = {
        "slug": problem.slug,
        "title": problem.title,
        "difficulty": problem.difficulty,
        "author": problem.author,
        "tags": list(problem.tags),
        "hash": problem.hash,
        "complete": problem.complete,
        "missing": list(problem.missing),
        "statement": problem.statement,
        "signatures": {"cuda": c_prototype(problem), "python": python_signature(problem)},
        "parameters": [_parameter_data(problem, p) for p in problem.parameters],
        "dtypes": list(problem.dtypes),
        "tolerance": None if tolerance is None else _tolerance_data(tolerance, problem),
        "baselines": list(problem.baselines),
        "benchmarks": [_shape_data(problem, shape) for shape in problem.benchmarks],
        "cpu_benchmarks": [_shape_data(problem, shape) for shape in problem.cpu_benchmarks],
        "cases": problem.cases,
        "limits": {
            "build_s": problem.limits.build_s,
            "prepare_s": problem.limits.prepare_s,
            "call_s": problem.limits.call_s,
            "host_bytes": problem.limits.host_bytes,
        },
        "examples": examples(problem),
    }
    return json_text(json.dumps(data, ensure_ascii=False))


def examples(problem: Problem) -> dict[str, int]:
    """How many submissions the package holds of each verdict."""
    counts: dict[str, int] = {}
    for path in sorted(problem.folder.glob("examples/*/*")):
        if path.suffix in SOURCES:
            counts[path.parent.name] = counts.get(path.parent.name, 0) + 1
    return counts


def readable_maths(statement: str) -> str:
    r"""Markdown whose ``$…$`` comes out as it went in, and whose ``$$…$$`` is a block of its own.

    Left alone, ``_``, ``*`` and ``\`` inside of formulas would be read as Markdown.
    """
    pieces: list[str] = []
    done = 0
    for fence in _FENCE.finditer(statement):
        pieces += (_without_fences(statement[done : fence.start()]), fence[0])
        done = fence.end()
    return "".join((*pieces, _without_fences(statement[done:])))


def _without_fences(text: str) -> str:
    pieces: list[str] = []
    done = 0
    for block in _DISPLAY.finditer(text):
        pieces += (_inline(text[done : block.start()]), f"\n```text\n{block[1].strip()}\n```\n")
        done = block.end()
    return "".join((*pieces, _inline(text[done:])))


def _inline(text: str) -> str:
    def shown(match: re.Match[str]) -> str:
        if match[1] is None:  # code
            return match[0]
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        return _literal(match[0], in_table=line.lstrip().startswith("|"))

    return _CODE_OR_MATHS.sub(shown, text)


def _literal(formula: str, *, in_table: bool) -> str:
    r"""What Markdown shows as ``formula``. In a table, ``\|`` is how a formula has its bar."""
    return _PUNCTUATION.sub(r"\\\1", formula.replace("\\|", "|") if in_table else formula)


def _parts(problem: Problem) -> Iterator[tuple[str, Any]]:
    """What follows from the front matter, each part under its title."""
    yield "Entry point", _signatures(problem)
    yield "Parameters", _parameters(problem)
    if problem.dtypes:
        yield "Data types", Text(plain(_dtypes(problem)))
    if problem.tolerance is not None:
        yield "Tolerance", _tolerance(problem.tolerance, problem)
    if problem.baselines:
        yield "Baselines", Text(plain(", ".join(problem.baselines) + " (the first is the measure)"))
    for title, shapes in (
        ("Timed on a GPU", problem.benchmarks),
        ("Timed without a GPU", problem.cpu_benchmarks),
    ):
        if shapes:
            yield f"{title} ({problem.dtypes[0]})", _shapes(problem, shapes)
    limits = problem.limits
    yield (
        "Limits",
        Text(
            f"build {seconds(limits.build_s)}, first call {seconds(limits.prepare_s)}, "
            f"each call {seconds(limits.call_s)}, host memory {bytes_(limits.host_bytes)}"
        ),
    )
    counts = examples(problem)
    if counts:
        listed = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        yield "Examples", Text(plain(f"{sum(counts.values())} under examples/: {listed}"))


def _signatures(problem: Problem) -> Group:
    return Group(
        Text(plain(c_prototype(problem))),
        Text(plain(python_signature(problem) + " ...")),
    )


def _dtypes(problem: Problem) -> str:
    first, *others = problem.dtypes
    return ", ".join([f"{first} (the default)" if others else first, *others])


_COLUMNS = ("name", "type", "shape", "strides", "", "starts at", "values or range", "always")


def _parameters(problem: Problem) -> Table:
    table = _table(*_COLUMNS)
    for parameter in problem.parameters:
        aligned = words.alignment_of(parameter)
        cells = (
            parameter.name,
            c_type(parameter),
            words.shape_of(parameter),
            words.strides_of(parameter),
            words.DIRECTIONS.get(parameter.direction or Direction.IN, "")
            if parameter.role is Role.TENSOR
            else "",
            f"multiple of {aligned}" if aligned else "",
            words.range_of(parameter) or words.values_of(parameter),
            words.always_of(parameter),
        )
        table.add_row(*(Text(plain(cell)) for cell in cells))
    return table


def _parameter_data(problem: Problem, parameter: Parameter) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": parameter.name,
        "type": c_type(parameter),
        "role": str(parameter.role),
    }
    if parameter.role is Role.TENSOR:
        data |= {
            "direction": str(parameter.direction),
            "shape": [str(e) for e in parameter.shape],
            "strides": [str(e) for e in parameter.strides] or None,
            "alignment": {dtype: parameter.aligned_to(dtype) for dtype in problem.dtypes},
            "nonfinite": parameter.nonfinite,
        }
    if parameter.role is Role.SIZE or parameter.equals is not None:
        data["range"] = words.range_of(parameter)
    else:
        data["values"] = words.values_of(parameter)
    data["always"] = list(parameter.always)
    return data


def _tolerance(tolerance: Tolerance, problem: Problem) -> Group:
    rows = _tolerance_data(tolerance, problem)
    table = _table("type", "sums in", "u_acc", "factors in", "u_in", "u_out")
    for dtype, row in rows["dtypes"].items():
        table.add_row(
            dtype,
            row["accumulator"],
            f"{row['u_acc']:.1e}",
            row["inputs"],
            f"{row['u_in']:.1e}" if row["u_in"] else "",
            f"{row['u_out']:.1e}",
        )
    lines = [Text(plain(line)) for line in _formula(tolerance, rows)]
    return Group(*lines, table) if rows["dtypes"] else Group(Text("exact: nothing is allowed"))


def _formula(tolerance: Tolerance, rows: dict[str, Any]) -> Iterator[str]:
    constant, factor = number(tolerance.constant), number(tolerance.factor)
    cut = any(row["u_in"] for row in rows["dtypes"].values())
    yield "An element may be off by"
    yield f"  u_acc · ({constant} · magnitude + {factor} · √length · |expected|)"
    if cut:
        yield (
            f"  + u_in · (min({number(CUT_WORST)}, {number(CUT_SPREAD)} / √length) · magnitude "
            f"+ {number(CUT_MEAN)} · |expected|)"
        )
    yield (
        f"  + {number(tolerance.roundings)} · "
        f"(u_out · |expected| + {number(SUBNORMALS)} · smallest subnormal)"
    )
    yield (
        f"with length = {tolerance.length}; magnitude is what was summed, without its signs. "
        f"Where sums are wider than what is multiplied, u_acc is {number(TRUNCATION)} unit "
        "roundoffs: matrix units truncate."
    )


def _tolerance_data(tolerance: Tolerance, problem: Problem) -> dict[str, Any]:
    """The constants, and for each floating-point type the unit roundoffs they are multiplied by.

    The formula is that of :mod:`harness.problem.tolerance`, which cannot be asked without torch.
    """
    rows: dict[str, dict[str, Any]] = {}
    for dtype in problem.dtypes:
        out = DTYPES[dtype]
        if out.kind in (DtypeKind.INTEGER, DtypeKind.BOOLEAN):
            continue
        accumulator = DTYPES[tolerance.accumulator.get(dtype, dtype)]
        inputs = tolerance.inputs.get(dtype, dtype)
        cut = PRECISIONS.get(inputs, 0.0)
        cut = cut if cut > out.roundoff else 0.0
        wider = accumulator.roundoff < max(out.roundoff, cut)
        reference = DTYPES["float64"].roundoff
        unit = accumulator.roundoff * (TRUNCATION if wider else 1.0) + reference
        rows[dtype] = {
            "accumulator": accumulator.name,
            "inputs": inputs,
            "u_acc": unit * (COMPLEX if out.kind is DtypeKind.COMPLEX else 1.0),
            "u_in": cut,
            "u_out": out.roundoff + reference,
        }
    return {
        "length": str(tolerance.length),
        "constant": tolerance.constant,
        "factor": tolerance.factor,
        "roundings": tolerance.roundings,
        "dtypes": rows,
    }


def _shapes(problem: Problem, shapes: Any) -> Table:
    given = [p for p in problem.parameters if p.role is not Role.TENSOR]
    table = _table(*(p.name for p in given), "operations", "bytes moved at least", right=True)
    for shape in shapes:
        amounts = _shape_data(problem, shape)
        table.add_row(
            *(Text(number(shape[p.name])) for p in given),
            flops(amounts["flops"]) if amounts["flops"] is not None else "?",
            bytes_(amounts["bytes"]) if amounts["bytes"] is not None else "?",
        )
    return table


def _shape_data(problem: Problem, shape: Any) -> dict[str, Any]:
    amounts: dict[str, float | None] = {"flops": None, "bytes": None}
    for key, expression in (("flops", problem.flops), ("bytes", problem.bytes)):
        try:
            if expression is not None and problem.dtypes:
                amounts[key] = problem.evaluate(expression, shape, problem.dtypes[0])
        except ExpressionError:  # a problem that is still being written
            continue
    return {"values": dict(shape), **amounts}


def _table(*titles: str, right: bool = False) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for title in titles:
        table.add_column(Text(title), overflow="fold", justify="right" if right else "left")
    return table
