"""What an organiser says of a recorded result: that it does not count, and why; or that it does.

A ruling changes no record: it is one of its own, dated and signed with a name (which nobody has
checked), and is kept when another one takes it back: the one that arrived last holds. Its text is
not safe to print.
"""

import json
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Literal, Self

from pydantic import Field, model_validator

from harness.records.fields import Created, Name, Record, Text, require_schema

RULING_SCHEMA: Literal[1] = 1


class Action(StrEnum):
    """What a ruling does."""

    INVALIDATED = "INVALIDATED"
    REINSTATED = "REINSTATED"


class Ruling(Record):
    """``who`` said at ``created`` whether the result with the id ``result`` counts, and why.

    Raises:
        pydantic.ValidationError: (a ValueError) an invalidation has no reason.
    """

    ruling: Literal[1] = RULING_SCHEMA
    id: Name
    result: Name
    created: Created
    action: Action
    who: Name
    reason: Text = Field(default="", description="required of an invalidation")

    @model_validator(mode="after")
    def _invalidations_have_reasons(self) -> Self:
        if self.action is Action.INVALIDATED and not self.reason.strip():
            raise ValueError("an invalidation needs a reason")
        return self

    def to_json(self) -> str:
        """One JSON object, keys as documented in docs/reference/result.md."""
        return self.model_dump_json()

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what :meth:`to_json` wrote.

        Raises:
            ValueError: not such a record, or one of another schema version.
        """
        data = json.loads(text)
        require_schema(data, RULING_SCHEMA, what="ruling", key="ruling")
        return cls.model_validate(data)


def rule(result: str, action: Action, *, who: str, reason: str = "") -> Ruling:
    """A new ruling about the result with the id ``result``, dated now."""
    return Ruling(
        id=secrets.token_hex(16),
        result=result,
        created=datetime.now(UTC),
        action=action,
        who=who,
        reason=reason,
    )


def counts(rulings: Sequence[Ruling]) -> bool:
    """Whether a result with these ``rulings``, in the order of their arrival, counts."""
    return not rulings or rulings[-1].action is not Action.INVALIDATED
