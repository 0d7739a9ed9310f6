"""A judge in a process of its own, on one card, as the command that has started it sees it."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import NamedTuple

from harness.grading.card_wire import Setup
from harness.sandbox import ROOT, processes

_PATH = f"import sys; sys.path[:0] = [{str(ROOT)!r}]; "
_JUDGE = _PATH + "from harness.grading.card_judge import main; main()"
_ON_CARD = (  # torch is imported by both at once
    _PATH + "from harness.session.start_runner import begin_zygote; begin_zygote(); "
    "from harness.grading.card_judge import main; main()"
)
_LEAVES_S = 20.0
"""The time that a judge with nothing more to do may take to end its helpers."""
_ENDS_S = 5.0
"""The time to end in order of one that is told to stop, and then of what is killed."""


def _program(card: "Seated") -> str:
    return _ON_CARD if card.device == "cuda" else _JUDGE


class Seated(NamedTuple):
    """A card of this host; a :class:`~harness.grading.places.Place`."""

    name: str
    """What people are told: ``card 0``."""
    device: str
    """What the judge opens: ``cuda``, the only card that it sees, or ``cpu``."""
    variables: Mapping[str, str]
    """What its environment has beside the command's."""

    def start(self, setup: Setup) -> "JudgeProcess":
        """A judge on it."""
        return JudgeProcess(self, setup)


class JudgeProcess:
    """One judge: started at once, ended whole; a :class:`~harness.grading.places.Judge`."""

    placed = True
    lost = False

    def __init__(self, card: Seated, setup: Setup, program: str | None = None) -> None:
        self.card = card
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", program or _program(card), str(theirs.fileno())],
                env={**os.environ, **card.variables},
                stdin=subprocess.DEVNULL,
                stdout=2,  # results are printed by the command alone
                pass_fds=(theirs.fileno(),),
                start_new_session=True,  # Ctrl-C is the command's, which ends its judges
            )
        self.link = Connection(ours.detach())
        self.send(setup)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def send(self, message: object) -> None:
        """Tell it something; if it is gone, that shows when it is listened to."""
        with contextlib.suppress(OSError):
            self.link.send(message)

    def finish(self) -> None:
        """There is nothing more to do: let it end by itself, or end it."""
        self.send(None)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_LEAVES_S)
        self.end()

    def stop(self) -> None:
        """Tell it to end now; returns at once."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)

    def end(self) -> None:
        """End it and all below it, and wait until they are gone."""
        self.stop()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDS_S)
        if self._process.poll() is None:
            tree = [self.pid, *processes.descendants(self.pid)]
            processes.end(tree, _ENDS_S)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_ENDS_S)
        self.link.close()

    def how_it_ended(self) -> str:
        """In words, after its channel has closed."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDS_S)
        code = self._process.returncode
        if code is None:
            return "its judge does not answer"
        if code >= 0:
            return f"its judge ended with exit status {code}"
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        hint = ", maybe for want of memory" if -code == signal.SIGKILL else ""
        return f"its judge was killed by {name}{hint}"
