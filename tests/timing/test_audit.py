"""Which session a busy device is blamed on; test_isolated.py and others have the other audits."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.errors import MachineError
from harness.timing.audit import IdleBaseline, find_busy_session


@pytest.mark.parametrize("busy", [True, False])
def test_find_busy_session_does_not_blame_a_submission_for_another_program(*, busy: bool) -> None:
    ended: list[bool] = []
    device = cast(
        Any, SimpleNamespace(name="some card", probe=lambda: 3e-3 if busy and ended else 5e-5)
    )
    session = cast(Any, SimpleNamespace(close=lambda: ended.append(True)))
    idle = IdleBaseline(before_s=5e-5, after_s=2e-4)
    if busy:
        with pytest.raises(MachineError, match="another program is at work on some card"):
            find_busy_session([session], device, idle, None)
    else:
        assert find_busy_session([session], device, idle, None) == 0
    assert ended == [True]


@pytest.mark.parametrize("others", [None, 0, 1])
def test_nobody_is_blamed_beside_another_program_that_was_seen(others: int | None) -> None:
    """It may be at rest just when the submission has ended."""
    device = cast(Any, SimpleNamespace(name="some card", probe=lambda: 5e-5))
    session = cast(Any, SimpleNamespace(close=lambda: None))
    idle = IdleBaseline(before_s=5e-5, after_s=2e-4)
    seen = None if others is None else SimpleNamespace(other_processes=others)
    monitor = cast(Any, SimpleNamespace(conditions=lambda: seen))
    if others:
        with pytest.raises(MachineError, match="another program is at work on some card"):
            find_busy_session([session], device, idle, monitor)
    else:
        assert find_busy_session([session], device, idle, monitor) == 0
