"""Reads JSON into records strictly: a value has its field's type, or the error names the field.

Needs the standard library alone: the first process of a sandbox imports this.
"""

import contextlib
import types
import typing
from dataclasses import MISSING, dataclass, fields
from enum import StrEnum
from typing import ClassVar, Self

_SHOWN_CHARACTERS = 60
_PLAIN = (int, float, str, bool)


class WireError(Exception):
    """The other side broke the protocol: closed, oversized, not JSON, not the expected message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WireRecord:
    """Base of the frozen dataclasses that travel as JSON objects.

    A field is of a plain type of JSON, ``object`` (anything), an enumeration of strings,
    ``Literal``, another record, a tuple of such, a mapping from strings, or a union.
    """

    type: ClassVar[str] = ""
    """The value of ``type`` in the JSON object; empty where a record needs none."""

    def to_json(self) -> dict[str, object]:
        """The type and the fields; records inside are left as they are."""
        tag = {"type": self.type} if self.type else {}
        return tag | {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_json(cls, data: object, place: str = "") -> Self:
        """Make the record that a JSON object holds; fields with a default may be missing.

        ``place`` is where the object was found, for errors: ``prepare.arguments``.

        Raises:
            WireError: a field is unknown, missing or of another type.
        """
        place = place or cls.type
        if not isinstance(data, dict):
            raise WireError(f"{place} is {_shown(data)}, not an object")
        rest = dict(data)
        if cls.type:
            rest.pop("type", None)
        values = {}
        for field in fields(cls):
            if field.name in rest:
                value = rest.pop(field.name)
                values[field.name] = _read(field.type, value, f"{place}.{field.name}")
            elif field.default is MISSING:
                raise WireError(f"{place}.{field.name} is missing")
        for name in rest:
            raise WireError(f"{place} has no field {_shown(name)}")
        return cls(**values)


def _read(kind: object, value: object, place: str) -> object:
    """The value of a field of type ``kind``."""
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if origin is types.UnionType:
        if type(value) in inside:  # None and plain ones
            return value
        tag = value.get("type") if isinstance(value, dict) else None
        kind = next((each for each in inside if _is_record(each) and each.type == tag), None)
    if _is_record(kind):
        return kind.from_json(value, place)
    if origin is tuple and isinstance(value, list):
        kinds = [inside[0]] * len(value) if inside[-1] is Ellipsis else inside
        if len(kinds) == len(value):
            pairs = enumerate(zip(kinds, value, strict=True))
            return tuple(_read(each, item, f"{place}[{i}]") for i, (each, item) in pairs)
    elif origin is dict and isinstance(value, dict):
        return {
            key: _read(inside[1], item, f"{place}[{_shown(key)}]") for key, item in value.items()
        }
    elif isinstance(kind, type) and issubclass(kind, StrEnum) and isinstance(value, str):
        with contextlib.suppress(ValueError):
            return kind(value)
    elif (
        kind is object
        or (origin is typing.Literal and value in inside)
        or (kind in _PLAIN and type(value) is kind)
    ):
        return value
    elif kind is float and type(value) is int:
        with contextlib.suppress(OverflowError):
            return float(value)
    raise WireError(f"{place} is {_shown(value)}")


def _is_record(kind: object) -> typing.TypeGuard[type[WireRecord]]:
    return isinstance(kind, type) and issubclass(kind, WireRecord)


def _shown(value: object) -> str:
    """A value of the other side's for a message: short, and ASCII."""
    if isinstance(value, list | dict):  # may be nested deeper than Python can show
        return "an array" if isinstance(value, list) else "an object"
    text = ascii(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."
