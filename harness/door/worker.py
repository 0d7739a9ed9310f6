"""The judge's process behind the Python door: grades what its caller orders, until that ends.

The caller is at the other end of a socket. Orders are read as they come, and graded some at a time,
so that files are built ahead of their turn; each result is sent as soon as it is there.
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
from queue import SimpleQueue
from typing import Any

from harness import signals
from harness.commands.common import problems_root, require_device
from harness.commands.jobs import Packages, job_of
from harness.commands.limits import require_limits
from harness.door.messages import DEATHS, Order, Setup, error_parts, line
from harness.door.texts import is_path, suffix_of
from harness.errors import HarnessError, JudgeError, MachineError, NoDeviceError, UsageError
from harness.grading.job import Completed, Job, Options, Work
from harness.problem.dtypes import dtype_meant
from harness.records.result import Result
from harness.sandbox.ending import end_children
from harness.solution.model import Invalid

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


def _use_card(wanted: str) -> None:
    """Let this process, before it asks CUDA for anything, see one card, whatever its caller sees.

    Raises:
        NoDeviceError: there is none of that number or UUID.
    """
    import pynvml

    try:
        pynvml.nvmlInit()
        by_number = wanted.isdecimal()
        handle = (
            pynvml.nvmlDeviceGetHandleByIndex(int(wanted))
            if by_number
            else pynvml.nvmlDeviceGetHandleByUUID(wanted)
        )
        os.environ["CUDA_VISIBLE_DEVICES"] = pynvml.nvmlDeviceGetUUID(handle)
    except pynvml.NVMLError as error:
        raise NoDeviceError(f"card {wanted!r}: {error}; nvidia-smi -L lists them") from error


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


class _Worker:
    """Grades the orders that come through ``channel``."""

    def __init__(self, channel: socket.socket, setup: Setup) -> None:
        self._channel = channel
        self._setup = setup
        self._inbox: SimpleQueue[Order] = SimpleQueue()
        self._dropped: set[int] = set()
        self._packages: Packages | None = None
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def serve(self) -> None:
        """Grade until this process is told to end."""
        while True:
            with ExitStack() as opened:
                try:
                    self._prepare(opened)
                except JudgeError as error:
                    self._refuse(self._next(), error)
                else:
                    self._send(ready=True)
                    while self._grade(self._next()):
                        pass

    def _prepare(self, opened: ExitStack) -> None:
        """Load what all grades need, and open the device."""
        if self._setup.card is not None:
            _use_card(self._setup.card)
        require_device(self._setup.device)
        require_limits()
        # Not earlier: orders and the caller's end are noticed while torch is imported.
        from harness.grading.executor import open_executor
        from harness.sandbox.selftest import breaches

        if self._setup.require_sandbox and (found := breaches()):
            raise MachineError(
                f"require_sandbox: on this machine a submission can {', '.join(found)}; "
                "harness doctor says what to do"
            )
        chosen = self._setup.problems
        self._packages = Packages(problems_root(Path(chosen) if chosen else None))
        self._executor = opened.enter_context(open_executor(self._setup.device))

    def _next(self) -> list[Order]:
        """All that waits, at least one."""
        orders = [self._inbox.get()]
        while len(orders) < MOST_AT_ONCE and not self._inbox.empty():
            orders.append(self._inbox.get())
        return [each for each in orders if each.number not in self._dropped]

    def _grade(self, orders: list[Order]) -> bool:
        """Grade some, and reply to each; False where the device has to be opened again."""
        left = {order.number: order for order in orders}
        try:
            with closing(self._outcomes(orders)) as outcomes:
                for number, result in outcomes:
                    del left[number]
                    if isinstance(result, Result):
                        self._send(number=number, result=result.to_json())
                    else:
                        self._send(number=number, error=error_parts(result))
                    if left and self._dropped.issuperset(left):
                        break  # nobody waits for the rest
        except JudgeError as error:
            self._refuse(list(left.values()), error)
            return False
        except Exception as error:
            told = "".join(traceback.format_exception(error))
            fault = HarnessError(f"internal error: this is a fault of the harness\n{told}")
            self._refuse(list(left.values()), fault)
            return False
        return True

    def _outcomes(
        self, orders: list[Order]
    ) -> Generator[tuple[int, Result | JudgeError], None, None]:
        """What came of each, in any order."""
        numbers: dict[int, int] = {}
        work: list[Work] = []
        for order in orders:
            try:
                asked = Work(self._job(order), self._options(order))
            except JudgeError as error:
                yield order.number, error
                continue
            if order.deaths >= DEATHS:
                why = "not graded: its judge's process died twice, which is not tried a third time"
                yield order.number, self._executor.give_up(asked, why)
                continue
            numbers[id(asked)] = order.number
            work.append(asked)
        for outcome in self._executor.outcomes(work):
            came = outcome.result if isinstance(outcome, Completed) else outcome.error
            yield numbers[id(outcome.work)], came

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
                    self._dropped.add(message["drop"])
                else:
                    self._inbox.put(Order(**message["order"]))
        _end()
