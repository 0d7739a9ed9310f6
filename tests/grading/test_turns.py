"""What is shown while a turn on a card is waited for."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from harness.device.cpu import CpuDevice
from harness.grading.turns import shared, shared_meanwhile
from harness.progress.progress import NoProgress, Note

Waiting = Callable[[float], None]


class Busy(CpuDevice):
    """Somebody takes times there, for so many seconds."""

    def __init__(self, *seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    @contextmanager
    def shared(self, waiting: Waiting) -> Iterator[None]:
        for each in self._seconds:
            waiting(each)
        yield


class Shown(NoProgress):
    """All that was shown, in order."""

    def __init__(self) -> None:
        self.said: list[str | tuple[int, Note]] = []

    def phase(self, name: str, total: int | None = None) -> None:
        self.said.append(name)

    def advance(self, n: int = 1, note: Note = "") -> None:
        self.said.append((n, note))


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        ((), []),
        ((0.2, 1.4), [(0, "waits for the GPU, 0 s"), (0, "waits for the GPU, 1 s"), (0, "")]),
    ],
)
def test_within_a_phase_a_note_says_who_waits_until_it_is_over(
    seconds: tuple[float, ...], said: list[object]
) -> None:
    shown = Shown()
    with shared_meanwhile(Busy(*seconds), shown):
        assert shown.said == said
    assert shown.said == said


def test_else_it_is_a_phase_of_its_own() -> None:
    shown = Shown()
    with shared(Busy(2.6), shown):
        assert shown.said == ["wait for the GPU, 3 s"]
