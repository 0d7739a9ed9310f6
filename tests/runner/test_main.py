"""Where the runner's thread is while a batch runs."""

import os
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from harness.runner.main import Runner
from harness.wire import Message


class Noted:
    """A program that notes which processors its thread may use when it is called."""

    def __init__(self) -> None:
        self.seen: list[set[int]] = []

    def bind(self, *_: Any) -> None:
        self.capture()

    def capture(self) -> bool:
        self.seen.append(os.sched_getaffinity(0))
        return True

    def call(self, _: int) -> None:
        self.capture()

    def replay(self) -> None:
        self.capture()

    def synchronize(self) -> None:
        pass

    def launched(self) -> None:
        return None

    copied = launched


def _prepare(runner: Any, *, capture: bool) -> None:
    message: Message = {
        "type": "prepare", "calls": 1, "arguments": [], "warmups": 0, "capture": capture,
        "order": 0, "seed": 0, "launches": [],
    }  # fmt: skip
    runner._answer(message, [])


def test_recorded_calls_run_where_the_judge_says(anywhere: set[int], tmp_path: Path) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        runner: Any = Runner(theirs, tmp_path)
        runner._program = program = Noted()
        runner._arena = SimpleNamespace()
        runner._mailbox = SimpleNamespace(go=1, done=0)
        cpu = max(anywhere)
        run: Message = {"type": "run", "round": 1, "cpu": cpu}

        _prepare(runner, capture=True)
        assert program.seen == [anywhere] * 3  # bound, recorded, replayed
        runner._answer(run, [])
        assert program.seen[3:] == [{cpu}]
        runner._answer({**run, "cpu": None}, [])  # nothing new is said
        assert program.seen[4:] == [{cpu}]
        runner._answer({"type": "open", "device": "cpu"}, [])
        assert os.sched_getaffinity(0) == anywhere
        runner._answer(run, [])
        _prepare(runner, capture=False)
        assert program.seen[5:] == [{cpu}, anywhere]
        runner._answer(run, [])  # plain calls may have threads of their own
        assert program.seen[7:] == [anywhere]
