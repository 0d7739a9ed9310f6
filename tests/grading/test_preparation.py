"""The sessions of one grade: ended together, and waited for by whoever needs what they hold."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.grading import turns
from harness.grading.preparation import Sessions
from harness.progress.progress import Progress
from harness.sandbox import leftovers
from harness.session.session import Session


class Told:
    """A session that says whether its end was waited for."""

    def __init__(self, happened: list[str], name: str) -> None:
        self._happened, self._name = happened, name
        self.mapped = 5

    def close(self, *, wait: bool = True) -> None:
        self._happened.append(f"{self._name} is {'gone' if wait else 'killed'}")


@pytest.fixture
def happened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    happened: list[str] = []
    monkeypatch.setattr(leftovers, "settle", lambda: happened.append("all are gone"))
    return happened


def begin(sessions: Sessions, happened: list[str]) -> None:
    for name in ("one", "other"):
        told = cast(Session, Told(happened, name))
        assert sessions.begin(told) is told


@pytest.mark.parametrize("fails", [False, True])
def test_the_end_of_a_grade_does_not_wait_until_its_processes_are_gone(
    fails: bool, happened: list[str]
) -> None:
    with (
        pytest.raises(KeyboardInterrupt) if fails else nullcontext(),
        Sessions(awaited=False) as sessions,
    ):
        begin(sessions, happened)
        assert sessions.mapped() == 10
        if fails:
            raise KeyboardInterrupt
    assert happened == ["other is killed", "one is killed"]


def test_without_a_gpu_it_does(happened: list[str]) -> None:
    """What they held must not look like the next one's."""
    with Sessions(awaited=True) as sessions:
        begin(sessions, happened)
    assert happened == ["other is gone", "one is gone"]


def test_who_needs_their_memory_waits(happened: list[str]) -> None:
    with Sessions(awaited=False) as sessions:
        begin(sessions, happened)
        sessions.end()
        assert happened == ["other is killed", "one is killed", "all are gone"]
    assert len(happened) == 3


def test_who_takes_times_waits_for_what_was_ended(happened: list[str]) -> None:
    held: Any = SimpleNamespace()

    class Card:
        def exclusive(self, _: Any) -> Any:
            happened.append("the card is ours")
            return nullcontext(held)

    with turns.exclusive(cast(Any, Card()), Progress()) as card:
        assert card is held
    assert happened == ["all are gone", "the card is ours"]
