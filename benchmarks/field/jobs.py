"""Several processes that grade on one card or on each of several, and end with this one."""

import multiprocessing
import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any
from unittest import mock

import torch

from benchmarks.field.grades import Graded, Turn, held_but, one_by_one
from harness import signals
from harness.device.choose import open_device
from harness.formats.base import Source
from harness.sandbox import processes
from harness.sandbox.ending import end_children

_GRACE_S = 60.0
"""What a problem that is being graded when the time is up may still take, of several at a time."""
_ENDS_S = 20.0
"""The time that processes of its own may take to end in order."""


def side_by_side(
    mine: Sequence[Source],
    device: str,
    places: Sequence[Mapping[str, str]],
    jobs: int,
    seconds: float,
    *,
    memory: float | None = None,
) -> Iterator[Graded]:
    """Grade until the time is up, in so many processes for each of ``places``, their environments.

    Each takes the next problem when it has done one, and has its share of the processors.
    """
    until = time.time() + seconds
    spawn = multiprocessing.get_context("spawn")
    todo: Any = spawn.Queue()
    done: Any = spawn.Queue()
    count = len(places) * jobs
    for source in (*mine, *[None] * count):
        todo.put(source)
    processors = sorted(os.sched_getaffinity(0))
    turns = [Turn(spawn.Lock(), jobs, memory) for _ in places]
    workers = []
    holders = [] if memory is None else [_holder(spawn, place, device, memory) for place in places]
    for number in range(count):
        place, turn = places[number % len(places)], turns[number % len(places)]
        share = processors[number::count] or processors
        workers.append(_started(spawn, place, _work, device, share, until, todo, done, turn))
    try:
        while time.time() < until + _GRACE_S:
            alive = any(worker.is_alive() for worker in workers)
            try:
                yield done.get(timeout=0.5 if alive else 0.0)
            except queue.Empty:
                if not alive:
                    break
    finally:
        todo.cancel_join_thread()  # what nobody takes any more must not keep this process
        _end([*workers, *holders])


def _end(started: Sequence[SpawnProcess]) -> None:
    """End processes and all below them: nothing of theirs may hold a card."""
    for process in started:
        process.terminate()
    until = time.monotonic() + _ENDS_S
    for process in started:
        process.join(max(0.0, until - time.monotonic()))
        if process.is_alive():
            assert process.pid is not None
            processes.end([process.pid, *processes.descendants(process.pid)], _ENDS_S)
            process.join()


def _started(
    spawn: SpawnContext, place: Mapping[str, str], what: Callable[..., None], *given: Any
) -> SpawnProcess:
    """A process with the environment of a card, which it has before it imports anything."""
    process = spawn.Process(target=what, args=given)
    with mock.patch.dict(os.environ, place):
        process.start()
    return process


def _holder(
    spawn: SpawnContext, place: Mapping[str, str], device: str, memory: float
) -> SpawnProcess:
    """A process that holds all of a card's memory but ``memory`` GiB until it is ended."""
    held = spawn.Event()
    process = _started(spawn, place, _hold, device, memory, held)
    while not held.wait(0.2):
        if not process.is_alive():
            raise SystemExit(f"--memory {memory:g}: the rest of a card could not be held")
    return process


def _hold(device: str, memory: float, held: Any) -> None:
    """A process of its own: hold the rest of the card's memory, no longer than its parent lives."""
    rest = held_but(open_device(device), memory)
    held.set()
    _follow()
    del rest


def _work(
    device: str, share: Sequence[int], until: float, todo: Any, done: Any, turn: Turn
) -> None:
    """A process of its own: grade what is next until nothing is, or the time is up."""
    signals.catch(end_children)
    threading.Thread(target=_follow, daemon=True).start()
    os.sched_setaffinity(0, share)
    torch.set_num_threads(len(share))
    sources = iter(todo.get, None)
    try:
        for row in one_by_one(sources, device, until - time.time(), turn=turn):
            done.put(row)
    except KeyboardInterrupt:  # what it was grading is left
        signals.leave()
        end_children()


def _follow() -> None:
    """End this process when the one that has started it is gone, however that ended."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
