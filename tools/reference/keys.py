"""The keys of a front matter, found out by reading one and taking down what is asked for.

The reader is the only one who knows its keys. So it reads an example that has every kind of
parameter, and each question is noted, with what answers it and what holds without an answer;
whether a key is needed is found out by leaving it out.
"""

import contextlib
import copy
import inspect
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import yaml

from harness.errors import ProblemError
from harness.problem.dtypes import C_TYPES, DTYPES, DtypeKind
from harness.problem.expressions import Expression
from harness.problem.format.fields import Fields
from harness.problem.format.load import load_problem

EXAMPLE = """
slug: example
title: An example
sizes: [{name: g, range: [1, 8]}]
parameters:
  - {name: x, type: "[VAR]", pointer: true, direction: in, shape: [n, m],
     values: {distribution: normal}}
  - {name: y, type: "[VAR]", pointer: true, const: false, shape: [n],
     values: {distribution: uniform}}
  - {name: n, type: size_t, pointer: false, range: [1, 100]}
  - {name: m, type: size_t, pointer: false, equals: 2*n}
  - {name: s, type: float, pointer: false, values: {distribution: normal}}
  - {name: t, type: float, pointer: false, values: {distribution: uniform}}
  - {name: r, type: float, pointer: false, equals: 1/n}
dtypes: [float32]
benchmarks: [{g: 4, n: 64, s: 0.5, t: 1}]
cpu_benchmarks: [{g: 1, n: 8, s: 0.5, t: 1}]
tolerance: {length: m}
flops: n*m
bytes: n
baselines: {plain: baseline.py}
"""

_EXAMPLE = yaml.safe_load(EXAMPLE)

REQUIRED, TO_GRADE, OPTIONAL = "required", "to grade", ""
KINDS = {
    "as_text": "text",
    "as_flag": "flag",
    "as_real": "number",
    "as_positive": "above 0",
    "as_expression": "expression",
}
"""Converters of so many keys that a word stands for what they take."""

MAPPING = "mapping"

_ROLES = ("tensors", "sizes", "scalars")


@dataclass(slots=True)
class Key:
    """A key as it was asked for: where, of which kinds of parameters, and what answers it."""

    path: tuple[str, ...]
    value: str
    default: str = ""
    needed: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """``tolerance.length``, without the list that parameters are in."""
        return ".".join(part for part in self.path if part != "parameters[]")

    @property
    def roles(self) -> list[str]:
        """The kinds of parameters that have it; outside of parameters one that is nameless."""
        return list(self.needed)

    @property
    def necessity(self) -> str:
        """Whether it is needed, and by which kinds of parameters where they differ."""
        said = {state for state in self.needed.values() if state}
        if not said:
            return OPTIONAL
        (state,) = said
        those = [role for role, each in self.needed.items() if each]
        return state if len(those) == len(self.needed) else f"{state}: {', '.join(those)}"


def keys() -> list[Key]:
    """All keys, in the order in which they are asked for."""
    found: dict[tuple[tuple[str, ...], str], Key] = {}

    def note(fields: Fields, key: str, value: str, default: object) -> None:
        path = _path((*fields.location, key))
        typed = "<data type>" in path  # each type has a default and choices of its own
        each = found.setdefault((path, "" if typed else value), Key(path, value))
        role = _role(fields)
        each.needed.setdefault(role, OPTIONAL)
        if key in fields:
            each.needed[role] = each.needed[role] or _needed((*fields.location, key))
        elif not typed:
            each.default = _shown(default)

    with _noting(note), _package(_example()) as folder:
        load_problem(folder)
    return list(found.values())


@contextlib.contextmanager
def _noting(note: Any) -> Iterator[None]:
    take, items, section, sections = Fields.take, Fields.items, Fields.section, Fields.sections
    asleep = False  # while a key is left out, the reader reads again

    def noted(fields: Fields, key: str, value: str, default: object) -> None:
        nonlocal asleep
        if not asleep:
            asleep = True
            note(fields, key, value, default)
            asleep = False

    def taking(self: Fields, key: str, convert: Any, default: Any) -> Any:
        noted(self, key, _value(convert), default)
        return take(self, key, convert, default)

    def listing(self: Fields, key: str, convert: Any, **bounds: int) -> Any:
        noted(self, key, f"list: {_value(convert)}{_lengths(**bounds)}", None)
        return items(self, key, convert, **bounds)

    def entering(self: Fields, key: str) -> Any:
        noted(self, key, MAPPING, None)
        return section(self, key)

    def entering_all(self: Fields, key: str) -> Any:
        noted(self, key, "list of mappings", None)
        return sections(self, key)

    with mock.patch.multiple(
        Fields, take=taking, items=listing, section=entering, sections=entering_all
    ):
        yield


@contextlib.contextmanager
def _package(data: Any) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "problem.md").write_text(f"---\n{yaml.safe_dump(data)}---\n")
        for file in ("reference.py", "baseline.py"):
            (folder / file).touch()
        yield folder


def _needed(location: tuple[int | str, ...]) -> str:
    """What becomes of the example without what is at ``location``."""
    data = _example()
    inside = data
    for part in location[:-1]:
        inside = inside[part]
    del inside[location[-1]]
    if location[-1] == "shape":  # all tensors have one, or none has
        for parameter in data["parameters"]:
            parameter.pop("shape", None)
    with _package(data) as folder:
        try:
            return OPTIONAL if load_problem(folder).complete else TO_GRADE
        except ProblemError as error:
            messages = [each.message for each in error.diagnostics]
            complaint = "lacks" if "benchmarks" in str(location[0]) else "is missing"
            return REQUIRED if any(each.startswith(complaint) for each in messages) else OPTIONAL


def _example() -> Any:
    """The example's data, to be changed by who asks."""
    return copy.deepcopy(_EXAMPLE)


def _path(location: tuple[int | str, ...]) -> tuple[str, ...]:
    """``location`` with what the author names in place of the example's own names."""
    path: list[str] = []
    for part in location:
        if isinstance(part, int):
            path[-1] += "[]"
        elif path and path[-1] in ("benchmarks[]", "cpu_benchmarks[]"):
            path.append("<size or scalar>")
        elif path and path[-1] == "baselines":
            path.append("<name>")
        elif path and path[-1] in ("accumulator", "inputs"):
            path.append("<data type>")
        else:
            path.append(str(part))
    return tuple(path)


def _role(fields: Fields) -> str:
    if fields.location[:1] != ("parameters",):
        return ""
    parameter = _EXAMPLE["parameters"][fields.location[1]]
    if parameter["pointer"]:
        return _ROLES[0]
    kind = DTYPES[C_TYPES[parameter["type"]]].kind
    return _ROLES[1] if kind is DtypeKind.INTEGER else _ROLES[2]


def _value(convert: Any) -> str:
    """What a converter takes, in words."""
    closed = inspect.getclosurevars(convert).nonlocals
    if "choices" in closed:
        return ", ".join(f"`{each}`" for each in closed["choices"])
    if {"low", "high"} <= closed.keys():
        return f"{closed['low']} to {closed['high']}"
    if name := KINDS.get(getattr(convert, "__name__", "")):
        return name
    first = (inspect.getdoc(convert) or "").splitlines()[0].rstrip(".").replace("``", "`")
    return first if first[1:2].isupper() else first[:1].lower() + first[1:]


def _lengths(min_items: int = 0, max_items: int = 0) -> str:
    if not max_items:
        return f"; at least {min_items}" if min_items else ""
    if min_items == max_items:
        return f"; {max_items} of them"
    return f"; {min_items} to {max_items} of them"


def _shown(default: object) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, Expression):
        return default.text
    if isinstance(default, int | float):
        return f"{default:g}" if abs(default) < 1e6 else str(default)
    return str(default or "")
