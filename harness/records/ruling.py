"""The record by which an organiser says that a recorded result does not count, or that it does.

A ruling changes no other record. It is dated, signed with a name (which nobody has checked), and
stays when another one takes it back: the one that arrived last holds. Its text is not safe to
print.
"""

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Literal, Self

from pydantic import model_validator

from harness.records.fields import Created, Document, Name, Text


class Action(StrEnum):
    """What a ruling does."""

    INVALIDATED = "INVALIDATED"
    REINSTATED = "REINSTATED"


class Ruling(Document):
    """Whether a result counts, and why.

    Raises:
        pydantic.ValidationError: (a ValueError) an invalidation has no reason.
    """

    schema_key = "ruling"
    schemas = (1,)
    ruling: Literal[1] = 1
    """Version of the keys."""
    id: Name
    """Unique; a store adds it once."""
    result: Name
    """Id of the result."""
    created: Created
    """When it was made, in UTC."""
    action: Action
    """What it does."""
    who: Name
    """Who made it."""
    reason: Text = ""
    """Why; required of an invalidation."""

    @model_validator(mode="after")
    def _invalidations_have_reasons(self) -> Self:
        if self.action is Action.INVALIDATED and not self.reason.strip():
            raise ValueError("an invalidation needs a reason")
        return self


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
