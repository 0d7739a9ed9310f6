"""``--card`` and ``--cards``: which of a host's GPUs, and an executor on them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

import click

from harness.commands.cluster import note, open_judges_in, wanted_cluster
from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.grading.cards import Cards
    from harness.grading.executor import InProcess
    from harness.grading.job import Work
    from harness.progress.progress import Progress

_CHOSEN = "harness.card"
_NONE_USED = "says which GPU, and --device cpu uses none: leave one away"


def _keep(context: click.Context, _option: click.Parameter, wanted: str | None) -> None:
    if wanted is not None:
        context.meta[_CHOSEN] = wanted


def use_card(device: str) -> None:
    """Let this process see the card of ``--card`` alone, if one is named.

    To be called before anything asks CUDA.

    Raises:
        UsageError: there is no such card, or ``device`` is ``cpu``.
        NoDeviceError: there is none at all.
    """
    context = click.get_current_context(silent=True)  # none in a process without a command
    wanted = context.meta.get(_CHOSEN) if context else None
    if wanted is None:
        return
    if device == "cpu":
        raise UsageError(f"--card: {_NONE_USED}")
    from harness.device.cards import choose_card, present_cards

    os.environ["CUDA_VISIBLE_DEVICES"] = choose_card(wanted, present_cards()).uuid


card_option = click.option(
    "--card",
    metavar="N|UUID",
    expose_value=False,
    callback=_keep,
    help="The GPU to use, by its number in nvidia-smi or its UUID [default: the first].",
)
cards_option = click.option(
    "--cards",
    metavar="all|N,N",
    help="Grade on several GPUs of one kind at once, with a judge for each.",
)


def open_judges(
    device: str, cards: str | None, shown: Progress | None = None, *, board: str | None = None
) -> InProcess | Cards:
    """An executor on ``auto``, ``cuda`` or ``cpu``, on ``cards``, or in the cluster of the command.

    Progress is ``shown``, else on stderr. In a cluster the GPU is that of ``board``, if no other is
    named.

    Raises:
        UsageError: two of these are asked for.
    """
    if wanted_cluster() is not None:
        if cards is not None or _CHOSEN in click.get_current_context().meta:
            raise UsageError("--cluster: gives judges their cards: leave --card and --cards away")
        return open_judges_in(device, shown, board)
    if cards is not None:
        from harness.progress.progress import progress

        return open_cards(device, cards, shown or progress())
    from harness.grading.executor import open_executor

    return open_executor(device, shown)


def head_start(
    device: str, cards: str | None, first: Sequence[Work]
) -> AbstractContextManager[object]:
    """What the ``first`` files wait for on GPUs of this machine, begun now.

    To be entered before :func:`open_judges` is called, which imports torch.
    """
    if not first or device == "cpu" or wanted_cluster() is not None:
        return nullcontext()
    from harness.grading.head_start import HeadStart

    return HeadStart(first, cards)


def open_cards(device: str, wanted: str, progress: Progress) -> Cards:
    """A judge on each of the ``wanted`` cards; this process keeps off their processors.

    Raises:
        UsageError: there is no such card, or they are of different kinds.
        NoDeviceError: there is none at all.
    """
    from harness.device.cards import present_cards
    from harness.grading.host_cards import open_host_cards

    if device == "cpu":
        raise UsageError(f"--cards: {_NONE_USED}")
    if _CHOSEN in click.get_current_context().meta:
        raise UsageError("--card and --cards: one of them")
    return open_host_cards(wanted, present_cards(), progress, told=note)
