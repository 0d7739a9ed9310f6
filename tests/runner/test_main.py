"""Where the runner's thread is while a batch runs."""

import os
import socket
from pathlib import Path
from typing import cast

from harness.runner.main import Runner
from harness.runner.memory import ImportedArena
from harness.runner.program import LoadedProgram
from harness.wire.mailbox import MAILBOX_BYTES, Mailbox
from harness.wire.messages import Open, Prepare, Run


class NotesAffinity(LoadedProgram):
    """A program that notes which processors its thread may use when it is called."""

    def __init__(self) -> None:
        self.seen: list[set[int]] = []

    def bind(self, batch: object, arena: object) -> None:
        self.capture()

    def capture(self) -> bool:
        self.seen.append(os.sched_getaffinity(0))
        return True

    def call(self, index: int) -> None:
        self.capture()

    def replay(self) -> None:
        self.capture()

    def launched(self) -> None:
        return None

    def synchronize(self) -> None:
        pass


def test_recorded_calls_run_on_the_named_processor(anywhere: set[int], tmp_path: Path) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    fd = os.memfd_create("mailbox")
    os.ftruncate(fd, MAILBOX_BYTES)
    mailbox = Mailbox(fd)
    os.close(fd)
    mailbox.go = 1
    with ours, theirs:
        program = NotesAffinity()
        arena = cast(ImportedArena, object())
        runner = Runner(theirs, tmp_path)
        runner._program, runner._arena, runner._mailbox = program, arena, mailbox
        cpu = max(anywhere)

        runner.answer(Prepare(calls=1, arguments=(), capture=True), [])
        assert program.seen == [anywhere] * 3  # bound, recorded, replayed
        runner.answer(Run(round=1, cpu=cpu), [])
        assert program.seen[3:] == [{cpu}]
        runner.answer(Run(round=1), [])  # without a processor it stays where it is
        assert program.seen[4:] == [{cpu}]
        runner.answer(Open(device="cpu"), [])
        assert os.sched_getaffinity(0) == anywhere
        runner.answer(Run(round=1, cpu=cpu), [])
        runner.answer(Prepare(calls=1, arguments=(), capture=False), [])
        assert program.seen[5:] == [{cpu}, anywhere]
        runner.answer(Run(round=1, cpu=cpu), [])  # plain calls may have threads of their own
        assert program.seen[7:] == [anywhere]
    mailbox.close()
