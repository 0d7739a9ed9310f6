"""Read typed values out of front matter, collecting every complaint instead of stopping at one.

A converter makes a value from data, or raises :class:`FieldError` (or any ``ValueError``) with what
is wrong, in words.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from harness.problem.expressions import Expression
from harness.problem.format.frontmatter import Data, FrontMatter, Location
from harness.text.plain import printable
from harness.text.suggest import did_you_mean, listing

T = TypeVar("T")
Converter = Callable[[Data], T]

MAX_ITEMS = 256
"""Longest list in a front matter."""

_WHOLE = re.compile(r"[+-]?\d{1,20}", re.ASCII)
_REAL = re.compile(r"[+-]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,3})?", re.ASCII)


class FieldError(ValueError):
    """A value does not fit its key; the message says what would."""


class Fields:
    """One mapping of the front matter, read key by key; :meth:`close` reports the keys unread."""

    def __init__(self, file: FrontMatter, data: Mapping[str, Data], location: Location) -> None:
        self.file = file
        self.location = location
        self._data = data
        self._known: list[str] = []

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def empty(self, key: str) -> bool:
        """Whether ``key`` is there with an empty list or mapping."""
        return self._data.get(key) in ([], {})

    def complain(self, key: str, message: str) -> None:
        """Complain about ``key``, on the line of the mapping if it has no such key."""
        self.file.complain((*self.location, key), message)

    def take(self, key: str, convert: Converter[T], default: T) -> T:
        """The value of an optional key; ``default`` if it is absent or wrong."""
        if not self.pass_over(key):
            return default
        return self._convert((*self.location, key), self._data[key], convert, default)

    def need(self, key: str, convert: Converter[T], default: T) -> T:
        """The value of a required key; ``default``, with a complaint, if it is absent or wrong."""
        if key not in self._data:
            self.complain(key, "is missing")
        return self.take(key, convert, default)

    def items(
        self, key: str, convert: Converter[T], *, min_items: int = 0, max_items: int = MAX_ITEMS
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
        return self._mapping((*self.location, key), self._data.get(key, {}))

    def sections(self, key: str) -> tuple["Fields", ...]:
        """The mappings of a list. Absent: empty."""
        return tuple(self._mapping(location, value) for location, value in self._elements(key))

    def close(self, where: str = "") -> None:
        """Complain about every key not read; ``where`` ends the message (`` for a size``)."""
        for key in self._data:
            if key not in self._known:
                hint = did_you_mean(key, [k for k in self._known if k not in self._data])
                self.complain(key, f"unknown key{where}{hint}")

    def _convert(self, location: Location, value: Data, convert: Converter[T], default: T) -> T:
        try:
            return convert(value)
        except ValueError as error:
            self.file.complain(location, str(error))
            return default

    def _mapping(self, location: Location, value: Data) -> "Fields":
        if not isinstance(value, dict):
            self.file.complain(location, f"must be a mapping of keys to values, not {_kind(value)}")
            value = {}
        return Fields(self.file, value, location)

    def _elements(
        self, key: str, min_items: int = 0, max_items: int = MAX_ITEMS
    ) -> Iterator[tuple[Location, Data]]:
        if not self.pass_over(key):
            return
        location, value = (*self.location, key), self._data[key]
        if not isinstance(value, list):
            self.file.complain(location, f"must be a list, not {_kind(value)}")
        elif not min_items <= len(value) <= max_items:
            same = min_items == max_items
            count = str(max_items) if same else f"{min_items} to {max_items}"
            self.file.complain(location, f"must have {count} items, not {len(value)}")
        else:
            yield from (((*location, i), item) for i, item in enumerate(value))


def _kind(value: Data) -> str:
    if isinstance(value, str):
        return f"{printable(value)!r}"
    return {type(None): "empty", list: "a list", dict: "a mapping"}[type(value)]


def _unlike(value: Data, wanted: str) -> FieldError:
    return FieldError(f"must be {wanted}, not {_kind(value)}")


def unknown_sizes(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """A complaint about each of ``names`` that is no ``known`` size."""
    sizes = list(known)
    unknown = sorted(set(names) - set(sizes))
    return [f"unknown size {n}{did_you_mean(n, sizes) or listing('sizes', sizes)}" for n in unknown]


def as_text(value: Data) -> str:
    """Any non-empty scalar, as it is written."""
    if value is None or (isinstance(value, str) and not value.strip()):
        raise FieldError("must not be empty")
    if not isinstance(value, str):
        raise _unlike(value, "text")
    if any(not c.isprintable() for c in value):
        raise FieldError("must be one line of printable characters")
    return value.strip()


def as_flag(value: Data) -> bool:
    """A flag, true or false, bare or quoted."""
    text = value.strip().lower() if isinstance(value, str) else None
    if text not in ("true", "false"):
        raise _unlike(value, "true or false")
    return text == "true"


def as_real(value: Data) -> float:
    """A finite number; ``1e-3`` is one, bare or quoted."""
    number = math.nan
    if isinstance(value, str) and _REAL.fullmatch(value.strip()):
        number = float(value)
    if not math.isfinite(number):
        raise _unlike(value, "a finite number")
    return number


def as_positive(value: Data) -> float:
    """A number greater than 0."""
    number = as_real(value)
    if not number > 0:
        raise FieldError(f"must be greater than 0, not {number:g}")
    return number


def whole_between(low: int, high: int) -> Converter[int]:
    """A converter for whole numbers from ``low`` to ``high``."""

    def convert(value: Data) -> int:
        if not isinstance(value, str) or not _WHOLE.fullmatch(value.strip()):
            raise _unlike(value, "a whole number")
        number = int(value)
        if not low <= number <= high:
            raise FieldError(f"must be from {low} to {high}, not {number}")
        return number

    return convert


def as_expression(value: Data) -> Expression:
    """An arithmetic expression over sizes and scalars."""
    if not isinstance(value, str):
        raise _unlike(value, "an expression like m*k")
    return Expression.parse(value)


def one_of(choices: tuple[str, ...]) -> Converter[str]:
    """A converter for one of a few words."""

    def convert(value: Data) -> str:
        text = as_text(value)
        if text not in choices:
            hint = did_you_mean(text, choices) or f" (one of {', '.join(choices)})"
            raise FieldError(f"unknown value {printable(text)}{hint}")
        return text

    return convert
