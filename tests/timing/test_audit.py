"""Who is blamed when no time can be taken. Other audits: test_contender.py, test_alone.py."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.errors import MachineError
from harness.timing.audit import IdleBaseline, find_busy_session


@pytest.mark.parametrize("busy", [True, False])
def test_work_of_others_on_the_card_is_not_blamed_on_a_submission(*, busy: bool) -> None:
    ended: list[bool] = []
    device = cast(
        Any, SimpleNamespace(name="some card", probe=lambda: 3e-3 if busy and ended else 5e-5)
    )
    session = cast(Any, SimpleNamespace(close=lambda: ended.append(True)))
    usual = IdleBaseline(before_s=5e-5, after_s=2e-4)
    if busy:
        with pytest.raises(MachineError, match="another program is at work on some card"):
            find_busy_session([session], device, usual)
    else:
        assert find_busy_session([session], device, usual) == 0
    assert ended == [True]
