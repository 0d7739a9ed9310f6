"""Problems on the terminal, or one as JSON: all that a contestant has to know."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import NamedTuple

from rich.console import Console, Group, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

from harness.problem import describe as words
from harness.problem import model
from harness.problem.dtypes import DTYPES, PRECISIONS, DtypeKind
from harness.problem.expressions import Expression, ExpressionError
from harness.problem.libraries import allowed_in_words
from harness.problem.model import Parameter, Tolerance
from harness.problem.package import Problem
from harness.problem.signature import c_prototype, c_type, python_signature
from harness.problem.terms import Role
from harness.report.tables import fitted, line, row, table
from harness.solution.suffixes import SOURCES
from harness.text.numbers import bytes_, flops, number, seconds
from harness.text.plain import json_text, plain, plain_lines

_FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)
_DISPLAY = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
_CODE_OR_MATHS = re.compile(r"`[^`\n]*`|(?<!\\)\$(?!\s)((?:[^$\n]|\n(?!\s*\n))+?)(?<![\s\\])\$")
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


def render_problems(problems: Iterable[Problem], console: Console) -> None:
    """Print one row per problem; those that cannot be graded yet say so."""
    listed = table("|problem", "difficulty", "types", "title")
    for each in problems:
        title = each.title if each.complete else f"{each.title} (cannot be graded yet)"
        cells = (each.slug, each.difficulty, ", ".join(each.dtypes), title)
        row(listed, *(plain(cell, 60) for cell in cells))
    console.print(fitted(listed, console, "types", "difficulty"))


def render_problem(problem: Problem, console: Console) -> None:
    """Print everything about ``problem``; formulas of the statement become Unicode."""
    line(console, plain(problem.title), "bold")
    facts = [problem.slug, problem.difficulty, *problem.tags]
    line(console, plain(" · ".join(filter(None, facts))), "dim")
    if not problem.complete:
        line(console, plain("cannot be graded yet: " + "; ".join(problem.missing)), "yellow")
    console.print()
    console.print(_statement(problem, console))
    for title, part in _parts(problem):
        console.print()
        line(console, title, "bold")
        console.print(Padding(part, (0, 0, 0, 2)))


def _statement(problem: Problem, console: Console) -> Segments:
    """The statement, but for what Markdown's entities (``&#27;``) and formatting could bring back.

    A line in which something would be interpreted is shown plainly, without its styles.
    """
    markdown = Markdown(readable_maths(plain_lines(problem.statement)), hyperlinks=False)
    shown: list[Segment] = []
    for segments in console.render_lines(markdown, pad=False):
        text = "".join(segment.text for segment in segments)
        shown += segments if plain(text) == text else [Segment(plain(text))]
        shown.append(Segment.line())
    return Segments(shown)


def problem_json(problem: Problem) -> str:
    """The same as one JSON object; amounts of the benchmarks are for the first data type."""
    tolerance = problem.tolerance
    data = {
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
        "sizes": [_size_data(size) for size in problem.unpassed],
        "dtypes": list(problem.dtypes),
        "libraries": None if problem.libraries is None else list(problem.libraries),
        "tolerance": None if tolerance is None else _tolerance_data(tolerance, problem),
        "baselines": list(problem.baselines),
        "benchmarks": [_shape_data(problem, shape) for shape in problem.benchmarks],
        "cpu_benchmarks": [_shape_data(problem, shape) for shape in problem.cpu_benchmarks],
        "benchmark_values": {d: list(problem.timed_families(d)) for d in problem.dtypes},
        "without_values": list(problem.without_values),
        "cases": problem.cases,
        "limits": asdict(problem.limits),
        "examples": examples(problem),
    }
    return json_text(json.dumps(data, ensure_ascii=False))


def examples(problem: Problem) -> dict[str, int]:
    """How many submissions the package holds of each verdict."""
    paths = sorted(problem.folder.glob("examples/*/*"))
    return dict(Counter(path.parent.name for path in paths if path.suffix in SOURCES))


def readable_maths(statement: str) -> str:
    r"""Markdown whose ``$…$`` is Unicode, and whose ``$$…$$`` is that in a block of its own.

    Left as they are, ``_``, ``*`` and ``\`` inside of formulas would be read as Markdown.
    """
    return _replaced(_FENCE, statement, lambda fence: fence[0], _without_fences)


def _without_fences(text: str) -> str:
    return _replaced(
        _DISPLAY, text, lambda block: f"\n```text\n{_unicode(block[1])}\n```\n", _inline
    )


def _replaced(
    pattern: re.Pattern[str],
    text: str,
    found: Callable[[re.Match[str]], str],
    rest: Callable[[str], str],
) -> str:
    """``text`` with ``found`` applied to what ``pattern`` matches, and ``rest`` to what is left."""
    pieces: list[str] = []
    done = 0
    for match in pattern.finditer(text):
        pieces += (rest(text[done : match.start()]), found(match))
        done = match.end()
    return "".join((*pieces, rest(text[done:])))


def _inline(text: str) -> str:
    def shown(match: re.Match[str]) -> str:
        if match[1] is None:  # code
            return match[0]
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        return _literal(match[1], in_table=line.lstrip().startswith("|"))

    return _CODE_OR_MATHS.sub(shown, text)


def _literal(formula: str, *, in_table: bool) -> str:
    r"""What Markdown shows as ``formula``. In a table, ``\|`` is how a formula has its bar."""
    return _PUNCTUATION.sub(r"\\\1", _unicode(formula.replace("\\|", "|") if in_table else formula))


def _unicode(formula: str) -> str:
    from harness.report.maths import unicode_maths  # not for a list of problems, which has none

    return plain(unicode_maths(formula))


def says_signatures(problem: Problem) -> bool:
    """Whether the statement has the signatures of the entry point already."""
    said = " ".join(problem.statement.split())
    signatures = (c_prototype(problem), python_signature(problem) + " ...")
    return all(" ".join(each.split()) in said for each in signatures)


def _parts(problem: Problem) -> Iterator[tuple[str, RenderableType]]:
    """What follows from the front matter, each part under its title."""
    if problem.parameters:
        if not says_signatures(problem):
            signatures = (c_prototype(problem), python_signature(problem) + " ...")
            yield "Entry point", Group(*(Text(plain(each)) for each in signatures))
        yield "Parameters", _parameters(problem)
    if problem.dtypes:
        first, *others = problem.dtypes
        dtypes = [f"{first} (the default)" if others else first, *others]
        yield "Data types", Text(plain(", ".join(dtypes)))
    if problem.libraries is not None:
        yield "Libraries in .cu files", Text(plain(allowed_in_words(problem.libraries)))
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
    if problem.benchmark_values:
        yield "Values of timed calls", Text(plain(", ".join(problem.benchmark_values)))
    if problem.without_values:
        yield "Values that no call has", Text(plain(", ".join(problem.without_values)))
    limits = problem.limits
    times = f"build {seconds(limits.build_s)}, first call {seconds(limits.prepare_s)}"
    calls = f"each call {seconds(limits.call_s)}, all cases {seconds(limits.cases_s)}"
    yield "Limits", Text(f"{times}, {calls}, host memory {bytes_(limits.host_bytes)}")
    if counts := examples(problem):
        listed = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        yield "Examples", Text(plain(f"{sum(counts.values())} under examples/: {listed}"))


def _parameters(problem: Problem) -> Table:
    columns = ("name", "type", "shape", "strides", "", "starts at", "values or range", "always")
    listed = table(*columns)
    for each in (*problem.parameters, *problem.unpassed):
        aligned = words.alignment_of(each)
        cells = (
            each.name,
            "(not passed)" if each in problem.unpassed else c_type(each),
            words.shape_of(each),
            words.strides_of(each),
            words.direction_of(each),
            f"multiple of {aligned}" if aligned else "",
            words.range_of(each) or words.values_of(each),
            words.always_of(each),
        )
        row(listed, *map(plain, cells))
    return listed


def _parameter_data(problem: Problem, parameter: Parameter) -> dict[str, object]:
    data: dict[str, object] = {
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
            "initial": "zero" if parameter.zeroed else None,
        }
    if parameter.role is Role.SIZE or parameter.equals is not None:
        data["range"] = words.range_of(parameter)
    else:
        data["values"] = words.values_of(parameter)
    return data | {"always": list(parameter.always)}


def _size_data(size: Parameter) -> dict[str, object]:
    """A size that is no parameter."""
    return {"name": size.name, "range": words.range_of(size), "always": list(size.always)}


class _Roundoffs(NamedTuple):
    """The types that a tolerance is made of for one data type, and their unit roundoffs."""

    accumulator: str
    inputs: str
    u_acc: float
    u_in: float
    u_out: float


def _tolerance(tolerance: Tolerance, problem: Problem) -> Group:
    roundoffs = _roundoffs(tolerance, problem)
    if not roundoffs:
        return Group(Text("exact: nothing is allowed"))
    stated = [_stated(tolerance, roundoffs)] if tolerance.rtol or tolerance.atol else []
    if stated and not tolerance.modelled:
        return Group(Text("An element may be off by"), *stated)
    listed = table("type", "sums in", "u_acc", "factors in", "u_in", "u_out")
    for dtype, each in roundoffs.items():
        u_in = f"{each.u_in:.1e}" if each.u_in else ""
        u_acc, u_out = f"{each.u_acc:.1e}", f"{each.u_out:.1e}"
        row(listed, dtype, each.accumulator, u_acc, each.inputs, u_in, u_out)
    cut = any(each.u_in for each in roundoffs.values())
    return Group(*(Text(plain(each)) for each in _formula(tolerance, cut=cut)), listed, *stated)


def _stated(tolerance: Tolerance, dtypes: Iterable[str]) -> Text:
    """What the problem allows in numbers: ``1e-05 + 0.001 · |expected|``, by type if it differs."""
    amounts = {
        dtype: f"{tolerance.atol.get(dtype, 0):g} + {tolerance.rtol.get(dtype, 0):g} · |expected|"
        for dtype in dtypes
    }
    before = "  + " if tolerance.modelled else "  "
    same = len(set(amounts.values())) == 1
    each = amounts.values() if same else [f"{words} ({dtype})" for dtype, words in amounts.items()]
    return Text(plain_lines("\n".join(before + words for words in dict.fromkeys(each))))


def _formula(tolerance: Tolerance, *, cut: bool) -> Iterator[str]:
    constant, factor = number(tolerance.constant), number(tolerance.factor)
    yield "An element may be off by"
    yield f"  u_acc · ({constant} · magnitude + {factor} · √length · |expected|)"
    if cut:
        part = f"min({number(model.CUT_WORST)}, {number(model.CUT_SPREAD)} / √length)"
        yield f"  + u_in · ({part} · magnitude + {number(model.CUT_MEAN)} · |expected|)"
    yield (
        f"  + {number(tolerance.roundings)} · "
        f"(u_out · |expected| + {number(model.SUBNORMALS)} · smallest subnormal)"
    )
    yield "  (length for √length where terms are alike; smallest normal float32 if that is larger)"
    yield (
        f"with length = {tolerance.length}; magnitude is what was summed, without its signs. "
        f"Where sums are wider than what is multiplied, u_acc is {number(model.TRUNCATION)} unit "
        "roundoffs: matrix units truncate."
    )


def _roundoffs(tolerance: Tolerance, problem: Problem) -> dict[str, _Roundoffs]:
    """By floating-point type, what the constants of the tolerance are multiplied by.

    The formula is that of :mod:`harness.problem.tolerance`, which cannot be asked without torch.
    """
    found = {}
    for dtype in problem.dtypes:
        out = DTYPES[dtype]
        if out.kind in (DtypeKind.INTEGER, DtypeKind.BOOLEAN):
            continue
        accumulator = DTYPES[tolerance.accumulator.get(dtype, dtype)]
        inputs = tolerance.inputs.get(dtype, dtype)
        cut = PRECISIONS.get(tolerance.inputs.get(dtype, ""), 0.0)
        cut = cut if cut >= out.roundoff else 0.0
        wider = accumulator.roundoff < max(out.roundoff, cut)
        reference = DTYPES["float64"].roundoff
        unit = accumulator.roundoff * (model.TRUNCATION if wider else 1.0) + reference
        found[dtype] = _Roundoffs(
            accumulator=accumulator.name,
            inputs=inputs,
            u_acc=unit * (model.COMPLEX if out.kind is DtypeKind.COMPLEX else 1.0),
            u_in=cut,
            u_out=out.roundoff + reference,
        )
    return found


def _tolerance_data(tolerance: Tolerance, problem: Problem) -> dict[str, object]:
    roundoffs = _roundoffs(tolerance, problem)
    return {
        "length": str(tolerance.length),
        "constant": tolerance.constant,
        "factor": tolerance.factor,
        "roundings": tolerance.roundings,
        "rtol": {dtype: tolerance.rtol.get(dtype, 0.0) for dtype in roundoffs},
        "atol": {dtype: tolerance.atol.get(dtype, 0.0) for dtype in roundoffs},
        "dtypes": {dtype: each._asdict() for dtype, each in roundoffs.items()},
    }


def _shapes(problem: Problem, shapes: Iterable[Mapping[str, float]]) -> Table:
    given = [p.name for p in problem.numbers]
    listed = table(*given, "operations", "bytes moved at least")
    for column in listed.columns:
        column.justify = "right"
    for shape in shapes:
        operations, moved = amounts(problem, shape)
        row(
            listed,
            *(words.number_of(shape[name]) for name in given),
            "?" if operations is None else flops(operations),
            "?" if moved is None else bytes_(moved),
        )
    return listed


def _shape_data(problem: Problem, shape: Mapping[str, float]) -> dict[str, object]:
    return {"values": dict(shape), **amounts(problem, shape)._asdict()}


class Amounts(NamedTuple):
    """Operations and bytes of a call; None where the problem does not say, or not yet."""

    flops: float | None
    bytes: float | None


def amounts(problem: Problem, shape: Mapping[str, float]) -> Amounts:
    """What a call with this ``shape`` has to do at least, in the first data type."""

    def amount(expression: Expression | None) -> float | None:
        if expression is None or not problem.dtypes:
            return None
        try:
            return problem.evaluate(expression, shape, problem.dtypes[0])
        except ExpressionError:  # a problem that is still being written
            return None

    return Amounts(amount(problem.flops), amount(problem.bytes))
