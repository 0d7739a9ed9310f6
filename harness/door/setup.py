"""What a caller says of a judge, as the setup of its process."""

import os
from collections.abc import Sequence
from pathlib import Path

from harness.door.messages import Setup
from harness.errors import UsageError
from harness.records.effort import EFFORTS, Effort
from harness.text.plain import quoted
from harness.text.suggest import did_you_mean

DEVICES = ("auto", "cuda", "cpu")

Cards = str | Sequence[int | str]
"""``all``, or some by number or UUID: ``"0,2"``, ``[0, 2]``."""


def setup_of(
    *,
    device: str,
    card: int | str | None,
    cards: Cards | None,
    cluster: str | None,
    gpu: str | None,
    judges: int | None,
    effort: Effort,
    problems: str | os.PathLike[str] | None,
    functional_times: bool,
    require_sandbox: bool,
) -> Setup:
    """The setup that the arguments of :class:`harness.door.judge.Judge` mean.

    Raises:
        UsageError: one of these cannot be.
    """
    _require("device", device, DEVICES)
    _require("effort", effort, EFFORTS)
    _require_one_place(device, card=card, cards=cards, cluster=cluster)
    for name, value in (("gpu", gpu), ("judges", judges)):
        if value is not None and cluster is None:
            raise UsageError(f"{name}: goes with cluster, which is not there")
    if judges is not None and (not isinstance(judges, int) or judges < 1):
        raise UsageError(f"judges {judges!r}: how many there are to be, from 1")
    folder = problems or os.environ.get("HARNESS_PROBLEMS")
    if folder is not None and not Path(folder).is_dir():
        raise UsageError(f"problems: no folder {quoted(str(folder))}")
    return Setup(
        device=device,
        card=None if card is None else str(card),
        cards=None if cards is None else _listed(cards),
        cluster=cluster,
        gpu=gpu,
        judges=judges,
        effort=effort,
        problems=folder and os.path.abspath(folder),  # noqa: PTH100 - links stay
        functional_times=functional_times or _wanted("HARNESS_FUNCTIONAL_TIMES"),
        require_sandbox=require_sandbox or _wanted("HARNESS_REQUIRE_SANDBOX"),
    )


def _require_one_place(device: str, **places: object) -> None:
    """Refuse two of ``card``, ``cards`` and ``cluster``, and a card for the CPU."""
    named = [name for name, value in places.items() if value is not None]
    if len(named) > 1:
        raise UsageError(f"{' and '.join(named)}: one of them")
    if device == "cpu" and named and named != ["cluster"]:
        raise UsageError(f"{named[0]}: says which GPU, and device='cpu' uses none: leave one away")


def _listed(cards: Cards) -> str:
    """``all``, or names with commas between.

    Raises:
        UsageError: these are no names of cards.
    """
    if isinstance(cards, str):
        return cards
    if not isinstance(cards, Sequence) or not cards:
        raise UsageError(f"cards {cards!r}: 'all', or some such as '0,2' or [0, 2]")
    return ",".join(map(str, cards))


def _wanted(variable: str) -> bool:
    """Whether the environment asks for it, as the commands read it."""
    return os.environ.get(variable, "").lower() in ("1", "true", "t", "yes", "y", "on")


def _require(what: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        hint = did_you_mean(value, known) if isinstance(value, str) else ""
        raise UsageError(f"{what} {value!r}: one of {', '.join(known)}{hint}")
