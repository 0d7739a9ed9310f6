"""The judge's process behind the Python door: grades what its caller orders, until that ends.

The caller is at the other end of a socket. Orders are read as they come, and graded some at a time,
so that files are built ahead of their turn; several judges are given each as it comes. Each result
is sent as soon as it is there.
"""

import json
import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Generator
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import signals
from harness.commands.common import problems_root
from harness.commands.jobs import Packages, job_of
from harness.commands.limits import require_limits
from harness.door.inbox import Inbox
from harness.door.messages import DEATHS, Order, Setup, error_parts, line
from harness.door.texts import is_path, suffix_of
from harness.errors import HarnessError, JudgeError, MachineError, UsageError
from harness.grading.job import Completed, Job, NotJudged, Options, Work
from harness.problem.dtypes import dtype_meant
from harness.records.result import Result
from harness.sandbox.ending import end_children
from harness.solution.model import Invalid

if TYPE_CHECKING:
    from harness.grading.cards import Cards
    from harness.grading.executor import InProcess

MOST_AT_ONCE = 64
"""Orders that are graded as one list, at most: others' wait for its end."""
_LOOK_S = 0.5
"""How often it is looked whether the caller lives."""
_END_S = 15.0
"""The time that an orderly end may take."""


def main() -> None:
    """Serve the caller; the arguments are the socket, the caller's process id and the setup."""
    descriptor, caller, setup = int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
    signals.catch(end_children)
    threading.Thread(target=_end_with, args=(caller,), daemon=True).start()
    try:
        os.set_inheritable(descriptor, False)
        with socket.socket(fileno=descriptor) as channel:
            _Worker(channel, Setup(**setup)).serve()
    except KeyboardInterrupt:
        signals.leave()
    finally:
        end_children()
    os._exit(0)  # not to wait for threads that compile what nobody asks for any more


def _end_with(caller: int) -> None:
    """End this process when ``caller`` has, even if its end of the socket lives on in a fork."""
    while os.getppid() == caller:
        time.sleep(_LOOK_S)
    _end()


def _end() -> None:
    """End this process from another thread than the one that grades."""
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_END_S)
    end_children()
    os._exit(1)


class _NobodyWaits(Exception):
    """All that is left was dropped."""


class _Worker:
    """Grades the orders that come through ``channel``; a :class:`harness.grading.feed.Feed`."""

    def __init__(self, channel: socket.socket, setup: Setup) -> None:
        self._channel = channel
        self._setup = setup
        self._inbox = Inbox()
        self._packages: Packages | None = None
        self._one: InProcess
        self._several: Cards | None = None
        self._left: dict[int, Order] = {}
        self._numbers: dict[int, int] = {}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def serve(self) -> None:
        """Grade until this process is told to end."""
        while True:
            with ExitStack() as opened:
                try:
                    self._prepare(opened)
                except JudgeError as error:
                    self._refuse(self._inbox.wait(MOST_AT_ONCE), error)
                else:
                    while self._grade(self._inbox.wait(MOST_AT_ONCE)):
                        pass

    def _prepare(self, opened: ExitStack) -> None:
        """Load what all grades need, and open the judges."""
        require_limits()
        # Not earlier: orders and the caller's end are noticed while torch is imported.
        from harness.door.open_judges import open_judges
        from harness.grading.cards import Cards
        from harness.sandbox.selftest import breaches

        if self._setup.require_sandbox and (found := breaches()):
            raise MachineError(
                f"require_sandbox: on this machine a submission can {', '.join(found)}; "
                "harness doctor says what to do"
            )
        chosen = self._setup.problems
        self._packages = Packages(problems_root(Path(chosen) if chosen else None))
        judges = open_judges(self._setup, lambda note: self._send(note=note))
        opened.enter_context(judges)
        if isinstance(judges, Cards):
            self._several = judges
        else:
            self._one = judges
        self._send(ready=judges.judges if isinstance(judges, Cards) else 1)

    def _grade(self, orders: list[Order]) -> bool:
        """Grade some, and reply to each; False where the judges have to be opened again."""
        self._left.clear()
        self._numbers.clear()
        try:
            with closing(self._outcomes(self._begin(orders))) as outcomes:
                for outcome in outcomes:
                    came = outcome.result if isinstance(outcome, Completed) else outcome.error
                    self._reply(self._numbers.pop(id(outcome.work)), came)
                    self._require_wanted()
        except _NobodyWaits:
            return True
        except JudgeError as error:
            self._refuse(list(self._left.values()), error)
            return False
        except Exception as error:
            told = "".join(traceback.format_exception(error))
            fault = HarnessError(f"internal error: this is a fault of the harness\n{told}")
            self._refuse(list(self._left.values()), fault)
            return False
        return True

    def _outcomes(self, work: list[Work]) -> Generator[Completed | NotJudged, None, None]:
        """What came of each, in any order; of several judges, of what comes meanwhile, too."""
        if self._several is not None:
            yield from self._several.outcomes(work, self)
        else:
            yield from self._one.outcomes(work)

    def fileno(self) -> int:
        """As of :class:`harness.grading.feed.Feed`."""
        return self._inbox.fileno()

    def take(self) -> list[Work]:
        """As of :class:`harness.grading.feed.Feed`."""
        work = self._begin(self._inbox.take())
        self._require_wanted()
        return work

    def wants(self, work: Work) -> bool:
        """As of :class:`harness.grading.feed.Feed`."""
        return self._numbers[id(work)] not in self._inbox.dropped

    def _require_wanted(self) -> None:
        """Go on only if anybody waits for anything.

        Raises:
            _NobodyWaits: all that is left was dropped.
        """
        if self._left and self._inbox.dropped.issuperset(self._left):
            raise _NobodyWaits

    def _begin(self, orders: list[Order]) -> list[Work]:
        """What is to be graded, and replies to what cannot be."""
        begun = []
        for order in orders:
            self._left[order.number] = order
            try:
                work = Work(self._job(order), self._options(order))
            except JudgeError as error:
                self._reply(order.number, error)
                continue
            if order.deaths >= DEATHS and self._several is None:
                why = "not graded: its judge's process died twice, which is not tried a third time"
                self._reply(order.number, self._one.give_up(work, why))
                continue
            self._numbers[id(work)] = order.number
            begun.append(work)
        return begun

    def _reply(self, number: int, came: Result | JudgeError) -> None:
        del self._left[number]
        if isinstance(came, Result):
            self._send(number=number, result=came.to_json())
        else:
            self._send(number=number, error=error_parts(came))

    def _job(self, order: Order) -> Job:
        """What is to be graded.

        Raises:
            UsageError, ProblemError: there is no such file or problem, or not of that type.
        """
        assert self._packages is not None
        path, submitted = Path(order.path or ""), None
        if order.text is not None:
            path = Path("source").with_suffix(suffix_of(order.text, order.language))
            submitted = order.text.encode("utf-8", "surrogatepass")
        job = job_of(
            path,
            self._packages,
            problem=order.problem,
            author=order.author,
            submitted=submitted,
        )
        if order.text is not None and isinstance(job.solution, Invalid) and is_path(order.text):
            message = f"{job.solution.message}; a str is code, the file at a path is a pathlib.Path"
            job = replace(job, solution=replace(job.solution, message=message))
        known = job.problem.dtypes
        if order.dtype is not None and order.dtype not in known:
            hint = dtype_meant(order.dtype, known)
            has = f"{job.problem.slug} has {', '.join(known)}{hint}"
            raise UsageError(f"dtype {order.dtype!r}: {has}")
        return job

    def _options(self, order: Order) -> Options:
        return Options(
            dtype=order.dtype,
            seed=order.seed,
            functional_times=self._setup.functional_times,
            quick=self._setup.effort == "quick",
            rough=self._setup.effort == "verdict",
        )

    def _refuse(self, orders: list[Order], error: JudgeError) -> None:
        for order in orders:
            self._send(number=order.number, error=error_parts(error))

    def _send(self, **message: object) -> None:
        with signals.held():  # whole lines only
            self._channel.sendall(line(**message))

    def _read(self) -> None:
        """Put what comes where it belongs; at its end this process ends."""
        with suppress(OSError), self._channel.makefile("rb") as lines:
            for each in lines:
                message: dict[str, Any] = json.loads(each)
                if "drop" in message:
                    self._inbox.drop(message["drop"])
                else:
                    self._inbox.put(Order(**message["order"]))
        _end()
