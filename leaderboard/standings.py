"""Many standings at once: what ranking asks of all of them is in arrays, the rest stays text.

A board of a hundred thousand entries is made of millions of values, most of which nobody looks at
before they are written again, as they are.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from sys import intern
from typing import Any

import numpy as np

from leaderboard.standing import FACTS, WIDTHS, Standing

_AT_ONCE = 2048
"""Standings to take apart at once: as many as caches hold."""


class Standings:
    """Standings in their order, each given as :meth:`Standing.to_bytes` wrote it.

    ``facts`` is an array of :data:`FACTS`; ``boards``, ``entries``, ``reasons``, ``origins`` and
    ``others`` are their texts part by part, and the same where the values are.
    """

    def __init__(self, written: Sequence[bytes]) -> None:
        parts: list[list[str]] = [[] for _ in range(1 + len(WIDTHS))]
        for start in range(0, len(written), _AT_ONCE):
            lines = b"\n".join(written[start : start + _AT_ONCE]).decode("ascii").split("\n")
            for place, part in enumerate(parts):
                part += lines[place :: len(parts)]
        facts, boards, self.entries, reasons, self.origins, others = parts
        self.facts = np.frombuffer(bytes.fromhex("".join(facts)), FACTS)
        # One object for those that are equal, as most are.
        self.boards, self.reasons, self.others = (
            list(map(intern, texts)) for texts in (boards, reasons, others)
        )

    @classmethod
    def of(cls, standings: Iterable[Standing]) -> "Standings":
        """The same of standings at hand."""
        return cls([each.to_bytes() for each in standings])

    @property
    def problems(self) -> set[str]:
        """The slugs in them."""
        return {values(text)[0] for text in set(self.boards)}

    @property
    def results(self) -> list[str]:
        """The ids of the results."""
        return columns(self.origins, WIDTHS[3])[4]

    def __len__(self) -> int:
        return len(self.facts)

    def __iter__(self) -> Iterator[Standing]:
        parts = (self.boards, self.entries, self.reasons, self.origins, self.others)
        for each in zip(*parts, strict=True):
            yield Standing._make(values(",".join(each)))


def values(text: str) -> list[Any]:
    """The values of a part, or of several with commas between."""
    found: list[Any] = json.loads(f"[{text}]")
    return found


def columns(texts: Sequence[str], width: int) -> list[list[Any]]:
    """The values in ``texts``, ``width`` in each, column by column."""
    flat = values(",".join(texts))
    return [flat[start::width] for start in range(width)]


def few_columns(texts: Sequence[str], width: int) -> list[list[Any]]:
    """As :func:`columns`, where most texts are the same: each is read once."""
    known = {text: values(text) for text in set(texts)}
    return [[known[text][place] for text in texts] for place in range(width)]
