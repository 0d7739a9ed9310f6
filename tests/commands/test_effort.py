"""``--effort`` and ``--quick``: what each asks for, and what contradicts it."""

from pathlib import Path
from typing import Any

import pytest

from harness.commands.choices import Choices
from harness.errors import UsageError
from harness.grading.job import SHRINK_S, Options
from harness.records.refs import DeviceRef

CPU = DeviceRef(kind="cpu", name="")
CARD = DeviceRef(kind="cuda", name="a card")


def options(**changes: Any) -> Options:
    about: dict[str, Any] = dict.fromkeys(
        ("problem", "author", "language", "dtype", "seed", "case", "shrink", "json_to")
    )
    about |= {"device": "auto", "arch": "sm_90", "watch": False, "problems_dir": None}
    return Choices(files=(Path("a.cu"),), **about | changes).options(timing=True)


@pytest.mark.parametrize(
    ("changes", "effort"),
    [
        ({}, "full"),
        ({"quick": True}, "quick"),
        ({"effort": "quick"}, "quick"),
        ({"effort": "quick", "quick": True}, "quick"),
        ({"effort": "verdict"}, "verdict"),
        ({"effort": "verdict", "shrink": False}, "verdict"),
    ],
)
def test_efforts(changes: dict[str, Any], effort: str) -> None:
    assert options(**changes).effort == effort


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"quick": True}, "--quick"),
        ({"baselines": "all"}, "--baselines all"),
        ({"profile": True}, "--profile"),
        ({"shrink": True}, "--shrink"),
    ],
)
def test_what_a_mere_verdict_leaves_out_cannot_be_asked_for(
    changes: dict[str, Any], named: str
) -> None:
    with pytest.raises(UsageError, match=named):
        options(effort="verdict", **changes)


def test_a_mere_verdict_takes_times_only_where_there_is_a_card() -> None:
    assert options(effort="verdict").on(CARD).timed
    assert not options(effort="verdict").on(CPU).timed
    assert options(effort="verdict", functional_times=True).on(CPU).timed
    assert options(effort="verdict").on(CARD).shrink_s == 0.0
    assert options().on(CPU).shrink_s == options(effort="quick").on(CARD).shrink_s == SHRINK_S
