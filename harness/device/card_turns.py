"""Turns on a GPU of this machine, over all its users: many judges check on it, or one takes times.

Who checks holds the card's lock shared, who takes times holds it alone. Before, both take a second
lock: who wants to take times holds that one shared until it is done, and who wants to check needs
it alone for a moment. So those who want to take times go first, one after the other, and nobody
begins to check before the last of them is done.

A turn is its process's: other threads of one that takes times use the card as they like. It is left
to the thread that took it, which may take it again. Both locks are the operating system's, so a
holder that is killed lets go.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from harness.device.file_locks import HostLock, wait_until

WARM_S = 5.0
"""A card at work stays warm for so many seconds."""

Waiting = Callable[[float], None]
"""Called with the seconds so far as soon as a turn has to be waited for, and about once a second
from then on; what it raises ends the wait."""


class Turn:
    """A turn of having a card to oneself."""

    def __init__(self, waited_s: float, card: HostLock) -> None:
        self.waited_s = waited_s
        """Seconds that it was waited for."""
        self._card = card

    def warm(self) -> bool:
        """Whether somebody had warmed the card up just now, in this turn or in one before."""
        try:
            return 0.0 <= time.time() - float(self._card.noted()) < WARM_S
        except ValueError:
            return False

    def note_warm(self) -> None:
        """Tell those who come next that it is warm."""
        self._card.note(repr(time.time()))


class _Mine(threading.local):
    """The turns of one thread."""

    def __init__(self) -> None:
        self.taking_times: dict[str, Turn] = {}
        self.checking: dict[str, _Locks] = {}


_mine = _Mine()
_of_this_process: set[str] = set()
"""The cards that this process takes times on."""


@contextmanager
def alone(uuid: str, waiting: Waiting) -> Iterator[Turn]:
    """Have the GPU with this UUID to oneself.

    A thread that checks there has its turn to check again afterwards. The files of the locks are
    those of :mod:`harness.device.lock_files`, which says who excludes whom.

    Raises:
        MachineError: there is no place for the locks, or they cannot be taken.
    """
    card = _key(uuid)
    if (turn := _mine.taking_times.get(card)) is not None:
        yield turn
        return
    shared = _mine.checking.get(card)
    if shared is not None:
        shared.card.let_go()
    try:
        with contextlib.closing(_Locks(card)) as locks:
            waited = wait_until(lambda: locks.timing.take(shared=True), waiting)
            waited += wait_until(locks.card.take, waiting)
            turn = _mine.taking_times[card] = Turn(waited, locks.card)
            _of_this_process.add(card)
            try:
                yield turn
            finally:
                del _mine.taking_times[card]
                _of_this_process.discard(card)
    except Exception:
        _enter_again(shared, waiting)
        raise
    _enter_again(shared, waiting)


def _enter_again(shared: "_Locks | None", waiting: Waiting) -> None:
    """Go on with a turn to check; a process that is told to end does not wait for that."""
    if shared is not None:
        wait_until(shared.enter, waiting)


@contextmanager
def beside_others(uuid: str, waiting: Waiting) -> Iterator[None]:
    """Use the GPU with this UUID while nobody takes times there; as :func:`alone`."""
    card = _key(uuid)
    if card in _mine.taking_times or card in _mine.checking:
        yield
        return
    with contextlib.closing(_Locks(card)) as locks:
        wait_until(lambda: card in _of_this_process or locks.enter(), waiting)
        _mine.checking[card] = locks
        try:
            yield
        finally:
            del _mine.checking[card]


class _Locks:
    """The two locks of a card, as one turn holds them."""

    def __init__(self, card: str) -> None:
        self.timing = HostLock(f"gpu-timing-{card}")
        self.card = HostLock(f"gpu-{card}")

    def enter(self) -> bool:
        """Begin to check, if nobody takes times or wants to; whether that was so."""
        if not self.timing.take():
            return False
        try:
            return self.card.take(shared=True)
        finally:
            self.timing.let_go()

    def close(self) -> None:
        """Let go of both: of the card first, for whoever sees the other free may take it."""
        self.card.close()
        self.timing.close()


def _key(uuid: str) -> str:
    """What stands for a card: with and without the prefix, which torch leaves out, it is one."""
    return uuid.removeprefix("GPU-").removeprefix("MIG-")
