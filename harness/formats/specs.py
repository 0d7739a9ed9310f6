"""How the spec of a foreign problem's case is written: ``inputs=1,weights=7,answers=rows``."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.formats.expected import SIGNED
from harness.problem.case import Case

if TYPE_CHECKING:
    from harness.formats.description import FormatCase

SMALL = ",sizes=cpu"
"""Where sizes were cut for an emulator."""
_SPEC = re.compile(
    r"(?P<key>[a-z]+=[a-z0-9_-]{1,40})(?:,weights=(?P<seed>\d{1,10}))?"
    rf"(?P<small>{SMALL})?(?P<plan>,calls=1|,answers=(?:host|rows))?"
)
"""The plan is one of :data:`harness.formats.plans.LABELLED`."""


def taken_apart(spec: str) -> re.Match[str] | None:
    """Its ``key``, ``seed``, ``small`` and ``plan``, the last three if it has them."""
    return _SPEC.fullmatch(spec.removesuffix(SIGNED))


def read(case: Case) -> re.Match[str]:
    """Likewise, of a case that is one."""
    found = taken_apart(case.spec)
    assert found is not None
    return found


def labelled(each: FormatCase, spec: str) -> Case:
    """The case of a spec, which is one of ``each``."""
    case = Case(sizes=each.sizes, scalars=each.scalars, label=spec)
    return replace(case, singly=read(case)["plan"] is not None)
