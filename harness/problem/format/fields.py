"""Read typed values out of front matter, collecting every complaint instead of stopping at one.

A converter is a function from :data:`~harness.problem.format.frontmatter.Data` to a value, which
raises :class:`FieldError` (or any ``ValueError``) with what is wrong, in words.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from harness.errors import Diagnostic
from harness.problem.expressions import Expression
from harness.problem.format.frontmatter import Data, FrontMatter, Location, dotted, printable
from harness.text.suggest import did_you_mean

T = TypeVar("T")

MAX_ITEMS = 256
"""Longest list in a front matter."""

_WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_REAL = re.compile(r"[+-]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,3})?", re.ASCII)


class FieldError(ValueError):
    """A value does not fit its key; the message says what would."""


@dataclass(slots=True)
class Complaints:
    """The complaints about one file."""

    path: Path
    matter: FrontMatter
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def add(self, location: Location, message: str, *, key: str | None = None) -> None:
        """Complain about what is at ``location``; ``key`` overrides how that is called."""
        name = dotted(location) if key is None else key
        self.diagnostics.append(Diagnostic(self.path, self.matter.line(location), name, message))

    def in_order(self) -> list[Diagnostic]:
        """All complaints in the order of the file."""
        return sorted(self.diagnostics, key=lambda d: d.line)


class Fields:
    """One mapping of the front matter, read key by key; :meth:`close` reports the keys unread."""

    def __init__(self, report: Complaints, data: Mapping[str, Data], location: Location) -> None:
        self.report = report
        self.location = location
        self._data = data
        self._known: list[str] = []

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def empty(self, key: str) -> bool:
        """Whether ``key`` is there with an empty list or mapping."""
        return self._data.get(key) in ([], {})

    def complain(self, key: str, message: str) -> None:
        """Complain about ``key``, or about the mapping as a whole if it has no such key."""
        self.report.add((*self.location, key), message)

    def take(self, key: str, convert: Callable[[Data], T], default: T) -> T:
        """The value of an optional key; ``default`` if it is absent or wrong."""
        self._known.append(key)
        if key not in self._data:
            return default
        return self._convert((*self.location, key), self._data[key], convert, default)

    def need(self, key: str, convert: Callable[[Data], T], default: T) -> T:
        """The value of a required key; ``default``, with a complaint, if it is absent or wrong."""
        if key not in self._data:
            self.complain(key, "is missing")
        return self.take(key, convert, default)

    def items(
        self,
        key: str,
        convert: Callable[[Data], T],
        *,
        min_items: int = 0,
        max_items: int = MAX_ITEMS,
    ) -> tuple[T, ...]:
        """The values of a list; wrong ones are left out, a wrong length leaves nothing."""
        values = (
            self._convert(location, value, convert, None)
            for location, value in self._elements(key, min_items, max_items)
        )
        return tuple(value for value in values if value is not None)

    def pass_over(self, key: str) -> bool:
        """Count ``key`` as read without reading it; True if it is there."""
        self._known.append(key)
        return key in self._data

    def section(self, key: str) -> "Fields":
        """A mapping inside this one; empty if it is absent or wrong."""
        self._known.append(key)
        location = (*self.location, key)
        return Fields(self.report, self._mapping(location, self._data.get(key, {})), location)

    def sections(self, key: str) -> tuple["Fields", ...]:
        """The mappings of a list. Absent: empty."""
        return tuple(
            Fields(self.report, self._mapping(location, value), location)
            for location, value in self._elements(key)
        )

    def rest(self) -> Mapping[str, Data]:
        """The keys not read so far, with their values; they count as read then."""
        keys = [key for key in self._data if key not in self._known]
        self._known.extend(keys)
        return {key: self._data[key] for key in keys}

    def close(self, where: str = "") -> None:
        """Complain about every key not read; ``where`` ends the message (`` for a size``)."""
        for key in self._data:
            if key not in self._known:
                hint = did_you_mean(key, [k for k in self._known if k not in self._data])
                self.complain(key, f"unknown key{where}{hint}")

    def _convert(
        self, location: Location, value: Data, convert: Callable[[Data], T], default: T
    ) -> T:
        try:
            return convert(value)
        except ValueError as error:
            self.report.add(location, str(error))
            return default

    def _mapping(self, location: Location, value: Data) -> Mapping[str, Data]:
        if isinstance(value, dict):
            return value
        self.report.add(location, f"must be a mapping of keys to values, not {_kind(value)}")
        return {}

    def _elements(
        self, key: str, min_items: int = 0, max_items: int = MAX_ITEMS
    ) -> Iterator[tuple[Location, Data]]:
        self._known.append(key)
        location = (*self.location, key)
        value = self._data.get(key, [])
        if key not in self._data:
            return
        if not isinstance(value, list):
            self.report.add(location, f"must be a list, not {_kind(value)}")
            return
        if not min_items <= len(value) <= max_items:
            same = min_items == max_items
            count = str(max_items) if same else f"{min_items} to {max_items}"
            self.report.add(location, f"must have {count} items, not {len(value)}")
            return
        for i, item in enumerate(value):
            yield (*location, i), item


def _kind(value: Data) -> str:
    """Describe a value, for complaints."""
    if value is None:
        return "empty"
    if isinstance(value, str):
        return f"{printable(value)!r}"
    return "a list" if isinstance(value, list) else "a mapping"


def as_text(value: Data) -> str:
    """Any non-empty scalar, as it is written."""
    if not isinstance(value, str):
        raise FieldError(
            "must not be empty" if value is None else f"must be text, not {_kind(value)}"
        )
    if not value.strip():
        raise FieldError("must not be empty")
    if any(not c.isprintable() for c in value):
        raise FieldError("must be one line of printable characters")
    return value.strip()


def as_flag(value: Data) -> bool:
    """A flag, true or false, bare or quoted."""
    text = value.strip().lower() if isinstance(value, str) else None
    if text not in ("true", "false"):
        raise FieldError(f"must be true or false, not {_kind(value)}")
    return text == "true"


def as_real(value: Data) -> float:
    """A finite number; ``1e-3`` is one, bare or quoted."""
    if not isinstance(value, str) or not _REAL.fullmatch(value.strip()):
        raise FieldError(f"must be a finite number, not {_kind(value)}")
    number = float(value)
    if not math.isfinite(number):
        raise FieldError(f"must be a finite number, not {_kind(value)}")
    return number


def as_whole(value: Data) -> int:
    """A whole number of at most 18 digits."""
    if not isinstance(value, str) or not _WHOLE.fullmatch(value.strip()):
        raise FieldError(f"must be a whole number, not {_kind(value)}")
    return int(value)


def whole_between(low: int, high: int) -> Callable[[Data], int]:
    """A converter for whole numbers from ``low`` to ``high``."""

    def convert(value: Data) -> int:
        number = as_whole(value)
        if not low <= number <= high:
            raise FieldError(f"must be from {low} to {high}, not {number}")
        return number

    return convert


def real_above(low: float) -> Callable[[Data], float]:
    """A converter for numbers greater than ``low``."""

    def convert(value: Data) -> float:
        number = as_real(value)
        if not number > low:
            raise FieldError(f"must be greater than {low:g}, not {number:g}")
        return number

    return convert


def as_expression(value: Data) -> Expression:
    """An arithmetic expression over sizes and scalars."""
    if not isinstance(value, str):
        raise FieldError(f"must be an expression like m*k, not {_kind(value)}")
    return Expression.parse(value)


def one_of(choices: tuple[str, ...]) -> Callable[[Data], str]:
    """A converter for one of a few words."""

    def convert(value: Data) -> str:
        text = as_text(value)
        if text not in choices:
            hint = did_you_mean(text, choices) or f" (one of {', '.join(choices)})"
            raise FieldError(f"unknown value {printable(text)}{hint}")
        return text

    return convert
