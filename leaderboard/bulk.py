"""Many results and rulings at once: made ready outside of a transaction, added in one."""

from __future__ import annotations

import pickle
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Self

from leaderboard.entry import Value, entry
from leaderboard.schema import row_of, ruling_row

if TYPE_CHECKING:
    from harness.records.result import Result
    from harness.records.ruling import Ruling

BATCH = 256
"""How many are written to the database at a time."""


class Batch(NamedTuple):
    """The rows of some results and rulings, in their order."""

    results: list[dict[str, str]]
    entries: list[dict[str, Value]]
    rulings: list[dict[str, str]]


class Bulk:
    """``entries`` as the rows that they become, in a temporary file of any size.

    All of them have been read before a transaction begins, which then is short, and can be
    repeated. As a context manager it lets the file go.

    Raises:
        OSError: there is no room for the file.
    """

    def __init__(self, entries: Iterable[Result | Ruling]) -> None:
        self.count = Counter[type]()
        """How many there are of each class."""
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 (closed below)
        self._batches = 0
        try:
            left = iter(entries)
            while some := list(islice(left, BATCH)):
                pickle.dump(_rows(some), self._file, pickle.HIGHEST_PROTOCOL)
                self._batches += 1
                self.count.update(map(type, some))
            self._file.flush()
        except BaseException:
            self._file.close()
            raise

    def __iter__(self) -> Iterator[Batch]:
        self._file.seek(0)
        for _ in range(self._batches):
            batch: Batch = pickle.load(self._file)  # noqa: S301 (a file that nobody else can open)
            yield batch

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _rows(some: Iterable[Result | Ruling]) -> Batch:
    from harness.records.result import Result

    batch = Batch([], [], [])
    for each in some:
        if isinstance(each, Result):
            batch.results.append(row_of(each))
            batch.entries.append(entry(each))
        else:
            batch.rulings.append(ruling_row(each))
    return batch
