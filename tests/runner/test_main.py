"""Where the runner's thread is while a batch runs."""

import os
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import ClassVar, cast

import pytest

from harness.runner.driver import Driver
from harness.runner.main import Runner
from harness.runner.memory import ImportedArena, ImportedHostArena
from harness.runner.program import LoadedProgram
from harness.wire.arguments import TensorArgument
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

    def upload(self) -> None:
        self.capture()

    def replay(self) -> None:
        self.capture()

    def launched(self) -> None:
        return None

    def synchronize(self) -> None:
        pass


@contextmanager
def told_to_go(folder: Path, program: LoadedProgram) -> Iterator[Runner]:
    """A runner with the program loaded, and a mailbox that tells it to go."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    fd = os.memfd_create("mailbox")
    os.ftruncate(fd, MAILBOX_BYTES)
    with ours, theirs, closing(Mailbox(fd)) as mailbox:
        os.close(fd)
        mailbox.go = 1
        runner = Runner(theirs, folder)
        runner._program, runner._arena = program, cast(ImportedArena, object())
        runner._mailbox = mailbox
        yield runner


class Adds(LoadedProgram):
    """A program that adds 1 to each byte of a call's output, and notes what it found there."""

    def __init__(self) -> None:
        self.found: list[tuple[int, ...]] = []

    def bind(self, batch: Prepare, arena: ImportedArena) -> None:
        assert isinstance(arena, ImportedHostArena)
        self.memory, self.arguments = arena.buffer, batch.arguments

    def call(self, index: int) -> None:
        found = []
        for each in self.arguments:
            assert isinstance(each, TensorArgument)
            for at in range(each.base + index * each.stride, each.base + index * each.stride + 2):
                found.append(self.memory[at])
                self.memory[at] += 1
        self.found.append(tuple(found))

    def launched(self) -> None:
        return None

    def synchronize(self) -> None:
        pass


def test_outputs_that_start_as_zero_do_so_in_every_call_that_warms_up(tmp_path: Path) -> None:
    fd = os.memfd_create("arena")
    os.ftruncate(fd, 64)
    arena, program = ImportedHostArena(fd, 64), Adds()
    arena.buffer[:] = bytes([9]) * 64
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        runner = Runner(theirs, tmp_path)
        runner._program, runner._arena = program, arena
        kind = {"dtype": "uint8", "shape": (2,), "strides": (1,)}
        zeroed = TensorArgument(base=0, stride=8, bytes=2, zeroed=True, **kind)
        other = TensorArgument(base=32, stride=8, bytes=2, **kind)
        prepare = Prepare(calls=2, arguments=(zeroed, other), warmups=3)
        runner.answer(prepare, [])
    assert [found[:2] for found in program.found] == [(0, 0)] * 3
    assert [found[2:] for found in program.found] == [(9, 9), (9, 9), (10, 10)]
    assert set(arena.buffer[2:8]) == {9}, "nothing else is touched"


class Looks:
    """What the driver does of a profiled run."""

    def __init__(self, program: NotesAffinity) -> None:
        self.calls: list[int] = []
        self._program = program

    def start_profiler(self) -> None:
        self.calls.append(len(self._program.seen))

    stop_profiler = start_profiler


def test_a_profiler_is_told_of_the_calls_that_count_alone(tmp_path: Path) -> None:
    program = NotesAffinity()
    with told_to_go(tmp_path, program) as runner:
        looks = Looks(program)
        runner._driver = cast(Driver, looks)
        runner.answer(Prepare(calls=2, arguments=(), warmups=1), [])
        runner.answer(Run(round=1), [])
        assert looks.calls == []
        before = len(program.seen)
        runner.answer(Run(round=1, profiled=True), [])
        assert looks.calls == [before, before + 2]


@pytest.mark.parametrize("tidy", [False, True])
def test_memory_is_given_back_after_each_call_where_others_need_it(
    tmp_path: Path, *, tidy: bool
) -> None:
    class Keeps(NotesAffinity):
        tidied = 0

        def tidy(self) -> None:
            self.tidied += 1

    program = Keeps()
    with told_to_go(tmp_path, program) as runner:
        runner.answer(Prepare(calls=1, arguments=(), warmups=1, tidy=tidy), [])
        assert program.tidied == tidy
        for number in (1, 2):
            runner.answer(Run(round=1), [])
            assert program.tidied == tidy * (1 + number)


def test_recorded_calls_do_not_run_before_their_inputs_are_there(tmp_path: Path) -> None:
    class Recorded(NotesAffinity):
        done: ClassVar[list[str]] = []

        def upload(self) -> None:
            self.done.append("upload")

        def replay(self) -> None:
            self.done.append("replay")

    program = Recorded()
    with told_to_go(tmp_path, program) as runner:
        runner.answer(Prepare(calls=1, arguments=(), capture=True), [])
        assert program.done == ["upload"]
        runner.answer(Run(round=1), [])
        assert program.done == ["upload", "replay"]


def test_recorded_calls_run_on_the_named_processor(anywhere: set[int], tmp_path: Path) -> None:
    program = NotesAffinity()
    with told_to_go(tmp_path, program) as runner:
        cpu = max(anywhere)

        runner.answer(Prepare(calls=1, arguments=(), capture=True), [])
        assert program.seen == [anywhere] * 3  # bound, recorded, sent to the device
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
