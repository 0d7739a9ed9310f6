"""Judges on cards of this host: a process of its own on each."""

from collections.abc import Callable, Sequence

from harness.device import cards
from harness.device.workplace import host_plan, keep_to
from harness.errors import UsageError
from harness.grading.card_process import Seated
from harness.grading.cards import Cards
from harness.progress.progress import Progress


def open_host_cards(
    wanted: str,
    there: Sequence[cards.Card],
    progress: Progress,
    *,
    told: Callable[[str], None],
    recorded: bool = False,
) -> Cards:
    """A judge on each of the ``wanted`` ones (``all``, ``0,2``) of the cards that are ``there``.

    This process keeps off their processors from now on. ``told`` and ``recorded`` are as for
    :class:`Cards`.

    Raises:
        UsageError: there is no such card, or they are of different kinds.
    """
    chosen = cards.choose_cards(wanted, there)
    if len({card.name for card in chosen}) > 1:
        names = ", ".join(f"{card.number} is {card.name}" for card in chosen)
        raise UsageError(f"cards of one kind are needed, since each board is of one; {names}")
    plan = host_plan(chosen[0].bus, [card.bus for card in chosen])
    keep_to(plan.rest)
    seated = [Seated(f"card {card.number}", *cards.opened_as(card)) for card in chosen]
    return Cards(seated, plan, progress, told=told, recorded=recorded)
