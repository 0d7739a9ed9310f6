"""Builds that are begun before their turn."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


def prefetch(items: Iterable[T], start: Callable[[T], U], most: int) -> Iterator[tuple[T, U]]:
    """Each of ``items``, in order, with what ``start`` made of it; ``most`` are begun at a time.

    ``start`` returns at once, with a future for instance; what it raises comes at that moment.
    """
    begun: deque[tuple[T, U]] = deque()
    for item in items:
        begun.append((item, start(item)))
        if len(begun) == most:
            yield begun.popleft()
    yield from begun
