"""What passes between a caller and its judge's process: one object of JSON in each line."""

import json
from dataclasses import asdict, dataclass

from harness.grading.error_parts import error_of, error_parts
from harness.records.effort import Effort

__all__ = ["DEATHS", "Order", "Setup", "error_of", "error_parts", "line", "order_line"]

DEATHS = 2
"""So often a source may have ended the judge's process; then it is not tried again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """How a judge grades all that it is given."""

    device: str
    """``auto``, ``cuda`` or ``cpu``."""
    card: str | None
    """Which GPU, by its number in nvidia-smi or its UUID; None: the first that is seen."""
    cards: str | None
    """``all`` that the caller sees, or some (``0,2``), with a judge on each."""
    cluster: str | None
    """The address of a Ray cluster, with a judge on each of its GPUs."""
    gpu: str | None
    """In a cluster: of which kind; None: the only one there is."""
    judges: int | None
    """In a cluster: how many; None: as many as there is room for."""
    effort: Effort
    """How much is spent on each grade."""
    problems: str | None
    """Folder of problem packages; None: the default one."""
    functional_times: bool
    """Take times without a GPU, too."""
    require_sandbox: bool
    """Refuse to grade where submissions cannot be confined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One source to grade: a text or the path of a file."""

    number: int
    """By which the reply names it."""
    text: str | None = None
    path: str | None = None
    problem: str | None = None
    """Slug, or path of a foreign problem; None: the source says it."""
    language: str | None = None
    """What ``text`` is written in; None: what it looks like."""
    author: str | None = None
    """None: as the path or the text says, else anonymous."""
    dtype: str | None = None
    """None: the problem's first that the source is written for."""
    seed: str | None = None
    """None: a fresh secret."""
    deaths: int = 0
    """So many processes have died when it was their turn to grade it."""


def line(**message: object) -> bytes:
    """The line of a message."""
    return json.dumps(message).encode("ascii") + b"\n"


def order_line(order: Order) -> bytes:
    """The line that asks for a grade."""
    return line(order=asdict(order))
