"""The caller's side of the judge's process: starts it, asks it, starts it again when it dies."""

import contextlib
import itertools
import json
import logging
import os
import socket
import subprocess
import sys
import tempfile
import threading
import weakref
from concurrent.futures import Future
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from harness.door.messages import DEATHS, Order, Setup, error_of, line, order_line
from harness.errors import JudgeError, MachineError, UsageError
from harness.records.result import Result
from harness.text.plain import plain

_ROOT = Path(__file__).resolve().parents[2]
_PROGRAM = f"""\
import sys
if {str(_ROOT)!r} not in sys.path: sys.path.append({str(_ROOT)!r})
from harness.door.worker import main
main()
"""
_END_S = 20.0
"""The time that an orderly end may take."""
_UNREADY = 1
"""Processes in a row that may end before they are ready, as one that is killed just then."""
_AHEAD, _AHEAD_EACH = 64, 16
"""Sources of one call that are with the process at once, so that it builds ahead: at least so many,
and so many for each of several judges."""
_LAST_WORDS = 4000
"""Bytes of what a process that died has printed."""
_NOTE = 1000
"""Characters of what is told of a judge."""
_LOG = logging.getLogger("harness")
CLOSED = "the judge is closed: open another one"


@dataclass(slots=True)
class _Asked:
    order: Order
    future: "Future[Result]"


class Connection:
    """A judge's process and what it is asked; started at the first order or by :meth:`start`.

    A fork of the caller gets a process of its own when it asks for something.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._closed = False
        self._life: _Life | None = None
        self.forget()
        _connections.add(self)

    def forget(self) -> None:
        """Be as new, in a fork: process, orders and threads are the parent's."""
        if self._life is not None:
            self._life.forget()
        self._lock = threading.Lock()
        self._life = None
        self._unready = 0
        self._asked: dict[int, _Asked] = {}
        self._numbers = itertools.count()

    def start(self) -> None:
        """Start the process, if there is none, to be ready sooner.

        Raises:
            MachineError: it cannot be started.
            UsageError: the connection is closed.
        """
        with self._lock:
            self._living()

    def ask(self, order: Order) -> "tuple[int, Future[Result]]":
        """The number of an order, and what will be its result.

        Raises:
            MachineError: no process can be started.
            UsageError: the connection is closed.
        """
        future: Future[Result] = Future()
        future.set_running_or_notify_cancel()
        with self._lock:
            life = self._living()
            order = replace(order, number=next(self._numbers))
            self._asked[order.number] = _Asked(order, future)
            life.send(order_line(order))
        return order.number, future

    def drop(self, number: int) -> None:
        """Nobody waits for this one any more."""
        with self._lock:
            if self._asked.pop(number, None) is not None and self._life is not None:
                self._life.send(line(drop=number))

    @property
    def ahead(self) -> int:
        """So many sources of one call are worth having with the process at once."""
        life = self._life
        return max(_AHEAD, _AHEAD_EACH * life.judges if life is not None else 0)

    def close(self) -> None:
        """End the process; who waits for something is told."""
        with self._lock:
            self._closed = True
            life, self._life = self._life, None
            self._fail(UsageError(CLOSED))
        if life is not None:
            life.end()

    def _living(self) -> "_Life":
        if self._closed:
            raise UsageError(CLOSED)
        if self._life is None:
            self._life = _Life(self, self._setup)
        return self._life

    def _fail(self, error: JudgeError) -> None:
        for each in self._asked.values():
            each.future.set_exception(error)
        self._asked.clear()

    def answered(self, number: int, result: Result | JudgeError) -> None:
        """The reply to an order has come."""
        with self._lock:
            asked = self._asked.pop(number, None)
        if asked is None:
            return
        if isinstance(result, Result):
            asked.future.set_result(result)
        else:
            asked.future.set_exception(result)

    def died(self, life: "_Life") -> None:
        """A process has ended by itself: what it owes is asked of another one.

        The first order of all was being graded, so it counts as the cause.
        """
        with self._lock:
            if self._life is not life:
                return
            self._life = None
            words = life.last_words()
            if not self._asked:
                return
            if not life.judges:
                self._unready += 1
                if self._unready > _UNREADY:
                    self._fail(MachineError(f"the judge's process has not started: {words}"))
                    return
            elif not self._blamed(words):
                return
            try:
                self._life = _Life(self, self._setup)
            except MachineError as error:
                self._fail(error)
                return
            for each in self._asked.values():
                self._life.send(order_line(each.order))

    def _blamed(self, words: str) -> bool:
        """Count a death against the first order; whether any is still to be asked."""
        self._unready = 0
        number, first = next(iter(self._asked.items()))
        first.order = replace(first.order, deaths=first.order.deaths + 1)
        if first.order.deaths > DEATHS:  # not even saying so has worked
            del self._asked[number]
            error = MachineError(f"the judge's process died again and again: {words}")
            first.future.set_exception(error)
        return bool(self._asked)


class _Life:
    """One process, from its start to its end."""

    def __init__(self, connection: Connection, setup: Setup) -> None:
        self.judges = 0
        """How many it has, once it is ready."""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process lives
        self._channel, theirs = socket.socketpair()
        arguments = (str(theirs.fileno()), str(os.getpid()), json.dumps(asdict(setup)))
        try:
            self._process = subprocess.Popen(
                # -P: what lies in the current folder is not taken for a package.
                [sys.executable, "-P", "-c", _PROGRAM, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,  # Ctrl-C is the caller's, who then ends the judge
            )
        except OSError as error:
            self._channel.close()
            self._errors.close()
            raise MachineError(f"the judge's process cannot be started: {error}") from error
        finally:
            theirs.close()
        reader = threading.Thread(target=_read, args=(self, connection, self._channel), daemon=True)
        reader.start()

    def send(self, message: bytes) -> None:
        """Send it; if the process has ended, that is noticed elsewhere."""
        with contextlib.suppress(OSError):
            self._channel.sendall(message)

    def end(self) -> None:
        """Let the process end, and wait for that."""
        with contextlib.suppress(OSError):
            self._channel.shutdown(socket.SHUT_RDWR)
        self._reap()
        self._channel.close()
        self._errors.close()

    def forget(self) -> None:
        """Close what a fork has inherited; the parent's goes on."""
        os.close(self._channel.detach())
        self._errors.close()

    def last_words(self) -> str:
        """How the process, which has closed its channel, ended, and the last that it printed."""
        code = self._reap()
        size = os.fstat(self._errors.fileno()).st_size
        words = os.pread(self._errors.fileno(), _LAST_WORDS, max(0, size - _LAST_WORDS))
        self._channel.close()
        self._errors.close()
        text = words.decode("utf-8", "replace").strip() or "it printed nothing"
        return f"it ended with exit status {code}: {text}"

    def _reap(self) -> int:
        try:
            return self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            from harness.sandbox import processes

            processes.end([*processes.descendants(self._process.pid), self._process.pid], _END_S)
            return self._process.wait()


def _read(life: _Life, connection: Connection, channel: socket.socket) -> None:
    """Take what a process sends until it ends."""
    with contextlib.suppress(OSError, ValueError), channel.makefile("rb") as lines:
        for each in lines:
            message = json.loads(each)
            if "ready" in message:
                life.judges = message["ready"]
            elif "note" in message:
                _LOG.warning(plain(message["note"], _NOTE))
            elif "result" in message:
                connection.answered(message["number"], Result.from_json(message["result"]))
            else:
                connection.answered(message["number"], error_of(message["error"]))
    connection.died(life)


_connections: "weakref.WeakSet[Connection]" = weakref.WeakSet()
"""All of this process. Global, since a fork has to forget them."""


def _forget_all() -> None:
    for each in _connections:
        each.forget()


os.register_at_fork(after_in_child=_forget_all)
