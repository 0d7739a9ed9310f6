"""What an import takes of files that others wrote: they rule over nobody, unless they are trusted.

Results are marked with the file that they came from (``origin``), and boards let them stand only
where nothing was graded here (:mod:`leaderboard.origin`). Rulings stay outside, and so do results
that do not count by the file's own rulings. Names, dates and numbers must make sense
(:mod:`harness.records.foreign`). What is there already stays as it is, whoever brings it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from harness.commands.exchange import LINE_BYTES, read_lines
from harness.records.foreign import complaint
from harness.records.result import Result
from harness.records.ruling import Ruling, counts
from harness.text.names import key, lookalike, shown
from harness.text.numbers import counted

if TYPE_CHECKING:
    from leaderboard.store import Store

_BATCH = 256
_MOST_NOTES = 5


class Admission:
    """Decides what is taken, and counts what was and what was not.

    Args:
        files: those that will be imported.
        rulings: take rulings, too.
        trust: take everything as it stands, as this store's own.
    """

    def __init__(self, files: Iterable[Path], *, rulings: bool, trust: bool) -> None:
        self.count = Counter[type]()
        """Results and rulings that were taken, or were there already."""
        self._trust = trust
        self._rulings = rulings or trust
        self._left_out = Counter[type]()
        self._authors: set[str] = set()
        self._taken: dict[str, str] = {}
        last = {} if self._rulings else {r.result: r for path in files for r in _rulings_in(path)}
        self._uncounted = {id_ for id_, ruling in last.items() if not counts([ruling])}

    def read(self, path: Path) -> Iterator[Result | Ruling]:
        """What the file holds, checked line by line.

        Raises:
            UsageError: as :func:`read_lines`, or a line could not have come from a harness.
        """
        return read_lines(path, check=None if self._trust else _require_sound)

    def taken(self, path: Path, store: Store) -> Iterator[Result | Ruling]:
        """What is to be added to ``store`` of the file: all that is not there already.

        Raises:
            UsageError: as :meth:`read`.
        """
        entries = self.read(path)
        while batch := list(islice(entries, _BATCH)):
            ids = [each.id for each in batch if isinstance(each, Result)]
            there = {each.id: each for each in store.named(ids)}
            for entry in batch:
                if isinstance(entry, Ruling):
                    yield from self._ruling(entry)
                else:
                    yield from self._result(entry, there.get(entry.id), path)

    def _ruling(self, ruling: Ruling) -> Iterator[Ruling]:
        if not self._rulings:
            self._left_out[Ruling] += 1
            return
        self.count[Ruling] += 1
        yield ruling

    def _result(self, result: Result, there: Result | None, path: Path) -> Iterator[Result]:
        if result.id in self._uncounted:
            self._left_out[Result] += 1
            return
        self.count[Result] += 1
        content = _content(result)
        known = self._taken.get(result.id) if there is None else _content(there)
        if known == content:
            return
        self._taken[result.id] = content
        self._authors.add(result.solution.author)
        yield result if self._trust else result.model_copy(update={"origin": path.name})

    def notes(self, recorded: Collection[str]) -> Iterator[str]:
        """What else whoever imports should know; ``recorded`` are the authors there were before."""
        if rulings := self._left_out[Ruling]:
            results = self._left_out[Result]
            by_them = f" and {counted(results, 'result')} that do not count by them"
            yield (
                f"{counted(rulings, 'ruling')}{by_them if results else ''} left out; --rulings "
                "takes what rulings say"
            )
        yield from lookalikes(self._authors, recorded)


def lookalikes(names: Iterable[str], recorded: Collection[str]) -> Iterator[str]:
    """A warning for each of ``names`` that is new and looks like a recorded one, the first few."""
    known = {key(each) for each in recorded}
    new = sorted(each for each in names if key(each) not in known)
    pairs = ((each, lookalike(each, recorded)) for each in new)
    for name, like in islice(((name, like) for name, like in pairs if like), _MOST_NOTES):
        yield f"note: the author {shown(name)} is new and looks like {shown(like)}"


def _require_sound(entry: Result | Ruling) -> None:
    if reason := complaint(entry):
        raise ValueError(f"{reason}; --trust takes it all the same")


def _content(result: Result) -> str:
    """A digest of all that a result says, wherever it came from."""
    said = result.model_copy(update={"origin": ""}).to_json()
    return sha256(said.encode("utf-8", "surrogateescape")).hexdigest()


def _rulings_in(path: Path) -> Iterator[Ruling]:
    """The rulings in the file; what else is in it, or wrong with it, :func:`read_lines` tells."""
    try:
        with path.open("rb") if path.is_file() else BytesIO() as file:
            for line in iter(lambda: file.readline(LINE_BYTES + 1), b""):
                if b'"ruling"' in line[:100]:
                    with suppress(ValueError, RecursionError):
                        yield Ruling.from_json(line.decode("utf-8"))
    except OSError:
        return
