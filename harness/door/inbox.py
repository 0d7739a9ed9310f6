"""What a caller has asked of the judge's process and is still to be begun; filled by a thread."""

import socket
from contextlib import suppress
from queue import Empty, SimpleQueue

from harness.door.messages import Order

_MOST_READ = 4096


class Inbox:
    """Orders in the order in which they came, and which of all nobody waits for any more."""

    def __init__(self) -> None:
        self._orders: SimpleQueue[Order] = SimpleQueue()
        self._bell, self._ring = socket.socketpair()
        self._bell.setblocking(False)
        self._ring.setblocking(False)
        self.dropped: set[int] = set()
        """Numbers of orders that nobody waits for."""

    def put(self, order: Order) -> None:
        """One more."""
        self._orders.put(order)
        self._tell()

    def drop(self, number: int) -> None:
        """Nobody waits for this one."""
        self.dropped.add(number)
        self._tell()

    def _tell(self) -> None:
        with suppress(BlockingIOError):  # it rings enough
            self._ring.send(b"\0")

    def fileno(self) -> int:
        """Can be read from when something has come, or was dropped."""
        return self._bell.fileno()

    def wait(self, most: int) -> list[Order]:
        """Some that are wanted, after a wait for the first that comes; ``most`` are looked at."""
        orders = [self._orders.get()]
        while len(orders) < most and not self._orders.empty():
            orders.append(self._orders.get())
        return self._wanted(orders)

    def take(self) -> list[Order]:
        """All that are wanted; returns at once."""
        with suppress(BlockingIOError):
            while self._bell.recv(_MOST_READ):
                pass
        orders = []
        with suppress(Empty):
            while True:
                orders.append(self._orders.get_nowait())
        return self._wanted(orders)

    def _wanted(self, orders: list[Order]) -> list[Order]:
        return [each for each in orders if each.number not in self.dropped]
