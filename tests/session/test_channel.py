"""The channel to a runner, on a sandbox that only says what it holds."""

from types import SimpleNamespace
from typing import Any

import pytest

from harness.records.result import Verdict
from harness.sandbox.pause_gate import clock
from harness.session.channel import Channel

LIMIT = 1 << 20


@pytest.mark.parametrize(
    ("memory", "trusted", "asked"),
    [(LIMIT - 1, False, [1]), (LIMIT, False, [0]), (LIMIT + 1, False, []), (0, True, [])],
)
def test_hidden_memory_is_looked_for_in_the_room_that_is_left(
    memory: int, trusted: bool, asked: list[int]
) -> None:
    rooms: list[int] = []
    sandbox: Any = SimpleNamespace(
        ended=lambda: None, memory=lambda: memory, hides=lambda room: bool(rooms.append(room))
    )
    channel = Channel(sandbox, host_bytes=LIMIT, sanitized=False, trusted=trusted)
    fault = channel.look(clock() + 60, 60)
    assert rooms == asked
    assert (fault is not None and fault.verdict) == (memory > LIMIT and Verdict.MEMORY_LIMIT)
