"""The judge's process behind the door, with an executor that judges nothing."""

import json
import os
import select
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import pytest
from support.samples import result

from harness.door import open_judges, worker
from harness.door.inbox import Inbox
from harness.door.messages import Order, Setup, error_of
from harness.errors import HarnessError, JudgeError, MachineError, NoDeviceError, UsageError
from harness.grading.executor import InProcess
from harness.grading.job import Completed, Job, NotJudged, Work
from harness.records.result import Result, Verdict

SETUP = Setup(
    device="cpu",
    card=None,
    cards=None,
    cluster=None,
    gpu=None,
    judges=None,
    effort="full",
    problems=None,
    functional_times=False,
    require_sandbox=False,
)


class Executor:
    """Grades each by what its text says; ``seen`` is told of each before."""

    def __init__(self, seen: Callable[[str], None]) -> None:
        self.seen = seen

    def outcomes(self, work: Sequence[Work]) -> Iterator[Completed | NotJudged]:
        for each in work:
            self.seen(each.job.path)
            if each.job.path == "machine":
                yield NotJudged(each, MachineError("no room"))
            elif each.job.path == "all":
                raise MachineError("three in a row")
            elif each.job.path == "bug":
                raise ZeroDivisionError
            else:
                yield Completed(each, result(name=each.job.path))

    def give_up(self, work: Work, message: str) -> Result:
        changes: dict[str, Any] = {"cases": (), "measurements": (), "score": None}
        return result(verdict=Verdict.INTERNAL_ERROR, message=message, **changes)


class Door:
    """A worker, and the end of its socket that a caller has."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: list[str] = []
        self.on_seen: dict[str, Callable[[], None]] = {}
        monkeypatch.setattr(worker, "_end", lambda: None)
        self.ours, theirs = socket.socketpair()
        self.worker = worker._Worker(theirs, SETUP)
        self.worker._one = cast(InProcess, Executor(self._look))
        monkeypatch.setattr(self.worker, "_job", self._job)
        self._lines = self.ours.makefile("rb")

    def _look(self, text: str) -> None:
        self.seen.append(text)
        self.on_seen.get(text, lambda: None)()

    def _job(self, order: Order) -> Job:
        if order.text == "usage":
            raise UsageError("no such problem")
        return Job(path=order.text or "", solution=cast(Any, None), problem=cast(Any, None))

    def grade(self, *texts: str, deaths: int = 0) -> tuple[bool, dict[int, Result | JudgeError]]:
        """Whether the device stays open, and the replies by their orders' places."""
        orders = [
            Order(number=n, text=text, problem="p", deaths=deaths if n == 0 else 0)
            for n, text in enumerate(texts)
        ]
        stays = self.worker._grade(orders)
        self.worker._send(number=-1)
        replies: dict[int, Result | JudgeError] = {}
        for line in self._lines:
            message = json.loads(line)
            if message["number"] == -1:
                break
            found = message.get("result")
            replies[message["number"]] = (
                Result.from_json(found) if found else error_of(message["error"])
            )
        return stays, replies


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch) -> Iterator[Door]:
    door = Door(monkeypatch)
    yield door
    door._lines.close()
    door.ours.close()
    door.worker._reader.join()  # while the end of this process is a stand-in


def kinds(replies: dict[int, Result | JudgeError]) -> dict[int, type]:
    return {number: type(each) for number, each in replies.items()}


def test_each_order_has_its_reply(door: Door) -> None:
    stays, replies = door.grade("a", "usage", "machine", "b")
    assert stays
    assert kinds(replies) == {0: Result, 1: UsageError, 2: MachineError, 3: Result}


@pytest.mark.parametrize(("text", "kind"), [("all", MachineError), ("bug", HarnessError)])
def test_what_ends_a_list_is_told_to_the_rest_of_it(door: Door, text: str, kind: type) -> None:
    stays, replies = door.grade("a", text, "b")
    assert not stays
    assert kinds(replies) == {0: Result, 1: kind, 2: kind}
    assert ("ZeroDivisionError" in str(replies[1])) == (text == "bug")


def test_what_ended_two_processes_is_not_run(door: Door) -> None:
    _, replies = door.grade("poison", "b", deaths=2)
    assert isinstance(replies[0], Result)
    assert replies[0].verdict is Verdict.INTERNAL_ERROR
    assert door.seen == ["b"]


def test_what_nobody_waits_for_any_more_is_not_graded(door: Door) -> None:
    def drop() -> None:
        for number in (0, 1, 2, 3):
            door.ours.sendall(json.dumps({"drop": number}).encode() + b"\n")
        waited = threading.Event()
        while len(door.worker._inbox.dropped) < 4:
            waited.wait(0.01)

    door.on_seen["b"] = drop
    stays, replies = door.grade("a", "b", "c", "d")
    assert stays
    assert (door.seen, list(replies)) == (["a", "b"], [0, 1])


class Cards:
    """As much of pynvml as a card is found with: two of them."""

    NVMLError = OSError
    uuids = ("GPU-a", "GPU-b")

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "pynvml", self)  # type: ignore[arg-type]
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")

    def nvmlInit(self) -> None: ...  # noqa: N802

    def nvmlDeviceGetHandleByIndex(self, number: int) -> str:  # noqa: N802
        return self.nvmlDeviceGetHandleByUUID("".join(self.uuids[number : number + 1]))

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> str:  # noqa: N802
        if uuid not in self.uuids:
            raise OSError("Not Found")
        return uuid

    def nvmlDeviceGetUUID(self, handle: str) -> str:  # noqa: N802
        return handle


@pytest.mark.parametrize("wanted", ["1", "GPU-b"])
def test_a_card_is_used_whatever_the_caller_sees(
    monkeypatch: pytest.MonkeyPatch, wanted: str
) -> None:
    Cards(monkeypatch)
    open_judges._use_card(wanted)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "GPU-b"


@pytest.mark.parametrize("wanted", ["2", "GPU-c", "H200"])
def test_a_card_that_is_not_there(monkeypatch: pytest.MonkeyPatch, wanted: str) -> None:
    Cards(monkeypatch)
    with pytest.raises(NoDeviceError, match="nvidia-smi -L"):
        open_judges._use_card(wanted)


def test_cards_that_are_named_are_looked_for_whatever_the_caller_sees(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    assert open_judges._as_seen("all")["CUDA_VISIBLE_DEVICES"] == "3"
    assert "CUDA_VISIBLE_DEVICES" not in open_judges._as_seen("0,2")


def test_what_comes_meanwhile_rings_and_is_taken_at_once() -> None:
    inbox = Inbox()
    for number in range(3):
        inbox.put(Order(number=number))
    inbox.drop(1)
    assert select.select([inbox], [], [], 0)[0]
    assert [each.number for each in inbox.take()] == [0, 2]
    assert not select.select([inbox], [], [], 0)[0]
    assert inbox.take() == []
    inbox.drop(2)
    assert select.select([inbox], [], [], 0)[0]


def test_orders_are_taken_some_at_a_time(door: Door) -> None:
    for number in range(100):
        order = {"number": number, "text": "a"}
        door.ours.sendall(json.dumps({"order": order}).encode() + b"\n")
    taken = []
    while len(taken) < 100:
        taken += door.worker._inbox.wait(worker.MOST_AT_ONCE)
    assert [each.number for each in taken] == list(range(100))
