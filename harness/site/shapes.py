"""A board's times by shape as a table: entries down, shapes across, the least of each known."""

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.shapes import ShapeRow

MAX_SHAPES = 12
MAX_CELLS = 800


@dataclass(frozen=True, slots=True)
class ShapeTable:
    """The first shapes and entries of a board; false without any."""

    shapes: tuple[str, ...]
    """Sizes and scalars of each, as records have them."""
    entries: tuple[tuple[ShapeRow, tuple[ShapeRow | None, ...]], ...]
    """The first row of each entry, and its rows by shape; None where it was not timed."""
    least: tuple[float, ...]
    """The least time of each shape among these entries, microseconds."""

    @classmethod
    def of(cls, entries: Sequence[Sequence[ShapeRow]]) -> "ShapeTable":
        """The table of the shapes of each entry, in this order."""
        known = dict.fromkeys(each.shape for rows in entries for each in rows)
        shapes = tuple(known)[:MAX_SHAPES]
        kept = [rows for rows in entries if rows][: MAX_CELLS // max(len(shapes), 1)]
        found = []
        for rows in kept:
            by_shape = {each.shape: each for each in rows}
            found.append((rows[0], tuple(by_shape.get(shape) for shape in shapes)))
        least = tuple(
            min((row.time_us for _, cells in found if (row := cells[place])), default=0.0)
            for place in range(len(shapes))
        )
        return cls(shapes, tuple(found), least)

    def __bool__(self) -> bool:
        return bool(self.entries)
