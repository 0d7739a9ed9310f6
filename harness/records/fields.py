"""Kinds of fields, and the bases of all records and of those that are written as JSON."""

import json
from datetime import UTC, datetime
from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field


def _storable(value: object) -> object:
    """Escape lone surrogates; everything else is left to the field's own check."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value


def _utc(value: datetime) -> datetime:
    try:
        return value.astimezone(UTC)
    except OverflowError as error:  # at either end of the calendar, east or west of UTC
        raise ValueError(f"{value.isoformat()} is no date in UTC") from error


Text = Annotated[str, BeforeValidator(_storable)]
Name = Annotated[str, BeforeValidator(_storable), Field(min_length=1)]
Created = Annotated[AwareDatetime, AfterValidator(_utc)]
Count = Annotated[int, Field(ge=0)]
Kernels = Annotated[float, Field(ge=0, le=1e6)] | None

LEAST_S, MOST_S = 1e-18, 1e9
"""Seconds that a time may have: from an attosecond to some thirty years."""
MOST_WORK = 1e24
"""Operations or bytes of one call at most: centuries of work for a card of today."""
MOST_COUNT = 10**15
"""Of what the judge counts: clocks, calls, blocks."""
MOST_LISTED = 10_000
"""Cases or notes of a result at most."""

Positive = Annotated[float, Field(ge=LEAST_S, le=MOST_S)]
"""Seconds that are divided by."""
Seconds = Annotated[float, Field(ge=0, le=MOST_S)]
Overhead = Annotated[float, Field(ge=-MOST_S, le=MOST_S)]
"""Seconds that were told as a difference, and may come out below zero."""
Samples = Annotated[tuple[float, ...], Field(max_length=1_000_000)]
"""Raw seconds: as they came, and no result if they are no times."""
Work = Annotated[float, Field(ge=0, le=MOST_WORK)]
Counted = Annotated[int, Field(ge=0, le=MOST_COUNT)]
Notes = Annotated[tuple[Text, ...], Field(max_length=MOST_LISTED)]


def require_schema(data: object, *schemas: int, what: str, key: str = "schema") -> None:
    """Check that ``data`` is an object whose ``key`` names one of these ``schemas``.

    Raises:
        ValueError: it is not.
    """
    if not isinstance(data, dict) or data.get(key) not in schemas:
        found = data.get(key) if isinstance(data, dict) else type(data).__name__
        known = " and ".join(map(str, schemas))
        raise ValueError(f"{what} schema {found!r}, this harness reads {known}")


class Record(BaseModel):
    """Base of all parts: immutable, no unknown keys, NaN and infinity survive JSON."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", ser_json_inf_nan="strings", populate_by_name=True
    )


class Document(Record):
    """A record that is written as one JSON object, which names its schema."""

    schema_key: ClassVar[str] = "schema"
    """The key that holds the number of the schema."""
    schemas: ClassVar[tuple[int, ...]]
    """Numbers of the schemas that are read; the last is the one that is written."""

    def to_json(self, indent: int | None = None) -> str:
        """One JSON object, keys as documented in docs/reference/result.md."""
        return self.model_dump_json(by_alias=True, indent=indent)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what :meth:`to_json` wrote, now or at one of the earlier ``schemas``.

        Raises:
            ValueError: not such a record, or one of another schema.
        """
        data = json.loads(text)
        require_schema(data, *cls.schemas, what=cls.__name__.lower(), key=cls.schema_key)
        return cls.model_validate(data)
