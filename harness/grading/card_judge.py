"""One of several judges of a command: its process, started by :mod:`harness.grading.card_process`.

It opens one card, takes its seat, and grades what it is given: first what is built, in order, for
what waits is built meanwhile. It ends with whoever started it.
"""

import os
import pickle
import signal
import sys
import threading
import time
from collections import deque
from concurrent.futures import Future
from functools import partial
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import NamedTuple

from harness import signals
from harness.device.base import Device
from harness.device.choose import open_device
from harness.errors import MachineError, NoDeviceError, ProblemError
from harness.grading.builds import Builds, Built, first_built, upcoming
from harness.grading.card_wire import (
    Begun,
    Broken,
    BuildAhead,
    Done,
    Errand,
    Order,
    Phase,
    Ready,
    Setup,
    Steps,
    Unjudged,
)
from harness.grading.grader import Grader, concerns_problem
from harness.grading.job import Work
from harness.progress.progress import NoProgress, Note, Progress
from harness.records.refs import DeviceRef
from harness.sandbox import processes, scratch
from harness.text.fault_log import log_fault
from harness.text.system_errors import system_fault

_SHOWN_EVERY_S = 0.2
_ENDS_S = 10.0
"""The time to end in order when whoever has started this process is gone."""
_CHILDREN_S = 5.0
_MOST_UNASKED = 64
"""Builds for orders that may come, at most: of some the order goes to another judge."""


def main() -> None:
    """Serve the channel that the command line names, until the command has no more or is gone."""
    link, orders = Connection(int(sys.argv[1])), SimpleQueue[bytes]()
    os.set_inheritable(link.fileno(), False)
    code = 1
    try:
        signals.catch(_end_children)
        setup: Setup = link.recv()
        threading.Thread(target=_receive, args=(link, orders), daemon=True).start()
        _serve(setup, link, orders)
        code = 0
    except (KeyboardInterrupt, EOFError, OSError):
        if (ended := signals.cause()) is not None:
            code = ended.exit_code
    finally:
        signals.leave()
        if code:
            _end_children()
    sys.exit(code)


def _receive(link: Connection, orders: "SimpleQueue[bytes]") -> None:
    """Receive orders, so that who gives them never waits; end this process when nobody does.

    They are unpickled in their turn: that may keep the thread that takes times waiting for 3 ms.
    """
    try:
        while True:
            orders.put(link.recv_bytes())
    except (EOFError, OSError):  # killed: else it closes its end after this process has ended
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_ENDS_S)
        _end_children()
        os._exit(128 + signal.SIGTERM)


def _end_children() -> None:
    processes.end(processes.descendants(os.getpid()), _CHILDREN_S)
    scratch.remove_own()


class LinkProgress(Progress):
    """Says on a channel what a judge is at, not too often."""

    def __init__(self, link: Connection) -> None:
        self._link = link
        self._count = 0
        self._said = 0.0

    def phase(self, name: str, total: int | None = None) -> None:
        """Say it."""
        self._count = 0
        self._link.send(Phase(name, total))

    def advance(self, n: int = 1, note: Note = "") -> None:
        """Say it, with what was not said before, if the last time is long enough ago."""
        self._count += n
        if (now := time.monotonic()) - self._said >= _SHOWN_EVERY_S:
            self._link.send(Steps(self._count, note if isinstance(note, str) else note()))
            self._count, self._said = 0, now


def _serve(setup: Setup, link: Connection, orders: "SimpleQueue[bytes]") -> None:
    progress = LinkProgress(link) if setup.shown else NoProgress()
    try:
        device = open_device(setup.device)
        device.settle(setup.plan, setup.judges)
    except Exception as error:
        link.send(Broken(_fault(error), isinstance(error, NoDeviceError)))
        return
    link.send(Ready(DeviceRef(kind=device.kind, name=device.name)))
    try:
        with Grader(device, progress) as grader:
            _Judge(link, orders, device, grader, progress).serve()
    except _Unwell:
        return
    except OSError as error:
        if isinstance(error, BrokenPipeError | ConnectionResetError):
            raise  # nobody listens
        link.send(Broken(_fault(error), final=False))
    except Exception as error:
        link.send(Broken(_fault(error), final=False))


class _Unwell(Exception):
    """It has been told why; a fresh process, or another card, may do better."""


class _Waiting(NamedTuple):
    """An order that waits for its answer."""

    order: Order
    building: Future[Built] | None
    """None where nothing is built."""


class _Judge:
    """Takes orders, builds them ahead, and answers them one after the other."""

    def __init__(
        self,
        link: Connection,
        orders: "SimpleQueue[bytes]",
        device: Device,
        grader: Grader,
        progress: Progress,
    ) -> None:
        self._link = link
        self._orders = orders
        self._device = device
        self._about = DeviceRef(kind=device.kind, name=device.name)
        self._grader = grader
        self._progress = progress
        self._waiting = deque[_Waiting]()
        self._ahead: dict[int, tuple[Work, Future[Built]]] = {}

    def serve(self) -> None:
        """Until there are no more orders.

        Raises:
            _Unwell: an order has shown that the machine, or the card, is not well.
        """
        with Builds(place=self._device.workplace) as builds:
            more = True
            while more or self._waiting:
                while more and (not self._waiting or not self._orders.empty()):
                    more = self._take(builds)
                if self._waiting:
                    self._answer(self._next(), builds)

    def _take(self, builds: Builds) -> bool:
        """Begin what the command asks for next, once it does; False: it asks for no more."""
        asked: object = pickle.loads(self._orders.get())  # noqa: S301 - the command's own
        match asked:
            case Order(number, task):
                work, building = self._ahead.pop(number, (None, None))
                if building is None or work != task:  # or it is of an earlier list
                    building = self._begin(task, builds) if isinstance(task, Work) else None
                self._waiting.append(_Waiting(Order(number, task), building))
            case BuildAhead(number, task):
                self._ahead[number] = task, self._begin(task, builds)
                if len(self._ahead) > _MOST_UNASKED:
                    self._ahead.pop(next(iter(self._ahead)))[1].cancel()
        return asked is not None

    def _begin(self, work: Work, builds: Builds) -> Future[Built]:
        options = work.options.on(self._about)
        if options.timed:
            self._grader.benchmark.trusted.start()
        return builds.begin(partial(self._grader.build, work.job, options, ahead=True))

    def _next(self) -> _Waiting:
        """Take out the first order that does not wait for its build; if all do, wait for one."""
        builds = [each.building for each in self._waiting]
        number = first_built(builds, partial(self._progress.phase, "build"))
        first = self._waiting[number]
        del self._waiting[number]
        return first

    def _answer(self, waiting: _Waiting, builds: Builds) -> None:
        order, building = waiting
        self._link.send(Begun(order.number))
        try:
            self._link.send(Done(order.number, self._outcome(order.task, building, builds)))
        except NoDeviceError as error:
            self._link.send(Broken(error, final=True))
            raise _Unwell from error
        except (ProblemError, MachineError) as error:
            error.__traceback__ = None  # its frames hold what was graded
            told = error if isinstance(error, ProblemError) else MachineError(str(error))
            self._link.send(Unjudged(order.number, told, concerns_problem(error)))
            if not concerns_problem(error):
                raise _Unwell from None

    def _outcome(
        self, task: Work | Errand, building: Future[Built] | None, builds: Builds
    ) -> object:
        if not isinstance(task, Work):
            return task.run(self._device, self._progress)
        assert building is not None, "work is built"
        options = task.options.on(self._about)
        waiting = [
            (order.task.job, building)
            for order, building in self._waiting
            if isinstance(order.task, Work) and building is not None
        ]
        return self._grader.judge(task.job, options, building, builds, upcoming(waiting))


def _fault(error: Exception) -> MachineError:
    """What to tell of an error that ends this process."""
    if isinstance(error, NoDeviceError):
        return error
    known = error if isinstance(error, MachineError) else system_fault(error)
    if known is not None:
        return MachineError(str(known))
    return MachineError(f"a fault of the harness; {log_fault(error)}")
