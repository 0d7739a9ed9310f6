"""Whose word counts, and under which name: own entries before imported ones, one spelling each.

What was imported is the word of whoever wrote the file. It stands on boards, marked, where nothing
was graded here, and never replaces, withdraws or renames what was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from harness.text.names import key

if TYPE_CHECKING:
    from collections.abc import Sequence


def counting(entries: pd.DataFrame, by: Sequence[str]) -> pd.Series[bool]:
    """Whether each entry has a say among those with which it shares the columns ``by``.

    Own ones have; imported ones where there is no own one.
    """
    own = entries["origin"] == ""
    if own.all():
        return own
    return own | ~own.groupby([entries[name] for name in by], sort=False).transform("any")


def first_spelling(entries: pd.DataFrame, column: str) -> pd.Series[str]:
    """The names in ``column``, each as its first entry has it, own entries before imported ones."""
    names, own = entries[column], entries["origin"] == ""
    first: dict[str, str] = {}
    in_order = pd.unique(pd.concat([names[own], names[~own]]))
    spelled = {name: first.setdefault(key(name), name) for name in in_order}
    return names if len(first) == len(spelled) else names.map(spelled).astype(names.dtype)
