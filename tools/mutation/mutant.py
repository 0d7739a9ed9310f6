"""One spoiled copy of a solution: where, what before, what after."""

import hashlib
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """``source`` with the characters from ``start`` to ``end`` replaced by ``after``.

    ``file`` is the solution's path below the repository, ``line`` counts from 1, ``context`` is
    that line without the space around it. ``occurrence`` tells mutants apart that agree in all of
    operator, context, before and after. ``narrow`` ones lose precision only, so that they differ
    from the original in 16-bit types alone.
    """

    file: str
    operator: str
    line: int
    context: str
    start: int
    end: int
    after: str
    source: str = field(repr=False)
    occurrence: int = 0
    narrow: bool = False

    @property
    def before(self) -> str:
        """What stood there."""
        return self.source[self.start : self.end]

    @property
    def text(self) -> str:
        """The whole file."""
        return self.source[: self.start] + self.after + self.source[self.end :]

    @property
    def id(self) -> str:
        """Stays the same when other lines of the file change."""
        parts = (self.file, self.operator, self.context, self.before, self.after)
        key = "\0".join((*parts, str(self.occurrence)))
        return hashlib.sha256(key.encode()).hexdigest()[:10]

    @property
    def change(self) -> str:
        """``row < m → row <= m``, on one line."""
        return f"{_short(self.before)} → {_short(self.after) or '(nothing)'}"

    @property
    def summary(self) -> str:
        """One line: place, operator, before and after, and the line it is in."""
        return f"{self.file}:{self.line}: {self.operator}: {self.change}    in: {self.context}"


def _short(text: str) -> str:
    return " ".join(text.split())


class Collector:
    """Gathers the edits of one file: none that changes nothing, none twice."""

    def __init__(self, source: str, file: str) -> None:
        self.source = source
        self.file = file
        self._starts = [0]
        for number, character in enumerate(source):
            if character == "\n":
                self._starts.append(number + 1)
        self._found: dict[tuple[int, int, str], Mutant] = {}

    def add(self, operator: str, start: int, end: int, after: str, *, narrow: bool = False) -> None:
        """Note that ``start`` to ``end`` may become ``after``."""
        start, end, after = _trimmed(self.source, start, end, after)
        if self.source[start:end] == after:
            return
        line = bisect_right(self._starts, start)
        stop = self.source.find("\n", start)
        context = self.source[self._starts[line - 1] : stop if stop >= 0 else None].strip()
        self._found.setdefault(
            (start, end, after),
            Mutant(
                file=self.file,
                operator=operator,
                line=line,
                context=context,
                start=start,
                end=end,
                after=after,
                source=self.source,
                narrow=narrow,
            ),
        )

    def mutants(self) -> list[Mutant]:
        """All, in the order of the file."""
        ordered = sorted(self._found.values(), key=lambda m: (m.start, m.end, m.operator, m.after))
        different = {mutant.text: mutant for mutant in reversed(ordered)}  # the first of each text
        return list(_numbered(m for m in ordered if different[m.text] is m))


def _trimmed(source: str, start: int, end: int, after: str) -> tuple[int, int, str]:
    """The same edit without the white space at its ends that stays as it is."""
    while start < end and after and source[start] == after[0] and after[0].isspace():
        start, after = start + 1, after[1:]
    while start < end and after and source[end - 1] == after[-1] and after[-1].isspace():
        end, after = end - 1, after[:-1]
    return start, end, after


def _numbered(mutants: Iterable[Mutant]) -> Iterable[Mutant]:
    seen: dict[tuple[str, str, str, str], int] = {}
    for mutant in mutants:
        key = (mutant.operator, mutant.context, mutant.before, mutant.after)
        yield replace(mutant, occurrence=seen.get(key, 0))
        seen[key] = seen.get(key, 0) + 1
