"""Boards: from results to ranked rows.

A *board* holds what may be compared: one problem, data type, device (kind and name), harness major
version and baseline. All boards come together, one after the other.

What counts, in this order:

1. A result speaks for its solution (problem version, author, solution hash). A newer result of the
   same solution on the same board replaces the older, better or worse, so that submitting a file
   again and again does not collect lucky times. A newer result that is *not* accepted withdraws
   the solution, unless it says nothing about it (``SILENT``).
2. Only the current version of a problem is ranked: the one named by the caller, else the one whose
   first result is the newest. Accepted results of another version are listed without a rank.
3. Each author has one row a board, the best: a ranked one before an unranked one, the current
   version before others, then the higher speed-up. ``all_entries`` lists them all; authors then
   compete with themselves too.
4. Rank = 1 + the number of entries that beat it (:mod:`leaderboard.ties`).

All this is done with arrays: some have an element for each standing, others are places in these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leaderboard.board import Boards, rows
from leaderboard.columns import COLUMNS
from leaderboard.csvfile import read_csv, to_csv
from leaderboard.standing import SILENT, standing
from leaderboard.standings import Standings, values
from leaderboard.ties import ranks, standard_errors

if TYPE_CHECKING:
    from harness.records.result import Result

__all__ = ["COLUMNS", "KEY", "SILENT", "board", "ranked", "read_csv", "rows", "to_csv"]

KEY = ["problem", "dtype", "device_kind", "device", "harness_major", "baseline"]
"""The columns that make a board."""

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Facts = NDArray[np.void]


def board(
    results: Iterable[Result],
    *,
    problem: str | None = None,
    all_entries: bool = False,
    current: Mapping[str, str] | None = None,
) -> Boards:
    """Rank ``results``, in whatever order they come.

    Args:
        results: any results, accepted or not; the same id twice counts once.
        problem: slug; only this problem's boards.
        all_entries: list every solution instead of each author's best.
        current: current hash by slug, for problems whose present version is known.

    Returns:
        Boards sorted by ``KEY``, in each ranked entries by rank, then by speed-up, then unranked
        ones.
    """
    once: dict[str, Result] = {}
    for each in results:
        if problem is None or each.problem.slug == problem:
            once.setdefault(each.id, each)
    standings = Standings.of(map(standing, once.values()))
    return ranked(standings, all_entries=all_entries, current=current)


def ranked(
    standings: Standings,
    *,
    all_entries: bool = False,
    current: Mapping[str, str] | None = None,
) -> Boards:
    """As :func:`board`, of what a store keeps for boards: once of each result."""
    facts = standings.facts
    boards = _boards(standings)
    solutions, authors = _numbered(facts["solution"]), _numbered(facts["author"])
    by_age = np.lexsort((facts["result"], facts["date"]))
    age = np.empty_like(by_age)
    age[by_age] = np.arange(len(by_age))
    other = _of_other_versions(standings, by_age, current or {})
    unranked = other | facts["unranked"]
    listed = _last_words(facts, solutions, _pairs(solutions, boards), by_age)
    best_first = (age, -facts["speedup"], other, unranked, boards)
    listed = listed[np.lexsort([each[listed] for each in best_first])]
    if not all_entries:
        listed = listed[_firsts(_pairs(boards, authors)[listed])]
    ranks_ = _ranks(facts[listed], boards[listed], unranked[listed])
    order = np.lexsort((ranks_, unranked[listed], boards[listed]))
    return Boards(standings, listed[order], ranks_[order], other)


def _boards(standings: Standings) -> Numbers:
    """The number of each one's board, in the order of their keys."""
    texts = sorted(set(standings.boards), key=values)
    numbers = {text: number for number, text in enumerate(texts)}
    return np.array([numbers[text] for text in standings.boards], dtype=np.int64)


def _last_words(facts: Facts, solutions: Numbers, entries: Numbers, by_age: Numbers) -> Numbers:
    """Places of accepted results that are the last word on their solution.

    ``solutions`` are numbered without the baseline: a result that is not accepted has none, and
    withdraws from all boards. ``entries`` are solutions on a board.
    """
    said: Numbers = by_age[facts["speaks"][by_age]]
    accepted = facts["accepted"][said]
    refused = np.flatnonzero(~accepted)
    withdrawn = np.full(len(facts), -1)
    withdrawn[solutions[said[refused]]] = refused  # of several the last stays
    told = np.flatnonzero(accepted)
    last = told[_lasts(entries[said[told]])]
    stays: Numbers = last[last > withdrawn[solutions[said[last]]]]
    return said[stays]


def _of_other_versions(standings: Standings, by_age: Numbers, current: Mapping[str, str]) -> Flags:
    """Whether each was measured on another version of its problem than the current one."""
    # The current version is told from all results, accepted or not.
    versions = _numbered(standings.facts["version"])
    firsts = by_age[_firsts(versions[by_age])].tolist()
    problems = [values(standings.boards[at])[0] for at in firsts]
    hashes = [values(standings.origins[at])[1] for at in firsts]
    dates = standings.facts["date"][firsts].tolist()
    newest = dict(sorted(zip(problems, dates, strict=True), key=itemgetter(1)))
    other = np.zeros(len(firsts), dtype=bool)
    other[versions[firsts]] = [
        date < newest[problem] if problem not in current else hash_ != current[problem]
        for problem, hash_, date in zip(problems, hashes, dates, strict=True)
    ]
    return other[versions]


def _ranks(facts: Facts, boards: Numbers, unranked: Flags) -> Numbers:
    """The rank of each, 0 for the unranked; those of a board lie one after the other."""
    result = np.zeros(len(facts), dtype=np.int64)
    entries = np.flatnonzero(~unranked)
    result[entries] = 1  # who is alone on a board is the first
    scores = np.log(facts["speedup"][entries])
    errors = standard_errors(facts["low"][entries], facts["high"][entries])
    starts = np.flatnonzero(np.diff(boards[entries], prepend=-1))
    ends = np.append(starts[1:], len(entries))
    several = ends - starts > 1
    for start, end in zip(starts[several].tolist(), ends[several].tolist(), strict=True):
        result[entries[start:end]] = ranks(scores[start:end], errors[start:end])
    return result


def _numbered(values: NDArray[Any]) -> Numbers:
    """A number for each value, below their count, the same for those that are equal."""
    numbers: Numbers = np.unique(values, return_inverse=True)[1]
    return numbers


def _pairs(one: Numbers, other: Numbers) -> Numbers:
    """A number for each pair."""
    numbers: Numbers = one * (other.max(initial=0) + 1) + other
    return numbers


def _firsts(numbers: Numbers) -> Numbers:
    """Places of the first of each number, in their order."""
    return np.sort(np.unique(numbers, return_index=True)[1])


def _lasts(numbers: Numbers) -> Numbers:
    return len(numbers) - 1 - _firsts(numbers[::-1])[::-1]
