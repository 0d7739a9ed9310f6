"""Small tensors as text: aligned columns, one line per row, a heading per matrix of a stack."""

from collections.abc import Iterator

from harness.records.cases import Numbers, TensorValues

_MAX_LINES = 40
_GAP = 2


def matrix_lines(tensor: TensorValues, width: int) -> list[str]:
    """The elements of ``tensor``, a line per row, none longer than ``width`` if it can be.

    Columns and rows for which there is no room are cut off and marked by ``…``. Whatever the
    record holds is shown: its shape is believed only in telling rows from complex numbers.
    """
    blocks = list(_blocks(tensor.values, len(tensor.shape), ()))
    cells = [[cell for row in rows for cell in row] for _, rows in blocks]
    wide = max((len(cell) for block in cells for cell in block), default=1)
    room = max(1, (width + _GAP - 2) // (wide + _GAP))
    lines: list[str] = []
    for index, rows in blocks:
        if index:
            lines.append(f"[{', '.join(map(str, index))}]")
        lines += [_row(row, wide, room) for row in rows]
    if len(lines) > _MAX_LINES:
        lines[_MAX_LINES - 1 :] = ["…"]
    return lines


def _row(cells: list[str], wide: int, room: int) -> str:
    shown = (" " * _GAP).join(cell.rjust(wide) for cell in cells[:room])
    return f"{shown} …" if len(cells) > room else shown


def _blocks(
    values: Numbers, dimensions: int, index: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], list[list[str]]]]:
    """(where in the stack, rows of cells) of every matrix, in order."""
    if not isinstance(values, tuple) or dimensions <= 0:
        yield index, [[_cell(values)]]
    elif dimensions == 1:
        yield index, [[_cell(value) for value in values]]
    elif dimensions == 2:
        yield index, [_cells(row) for row in values]
    else:
        for number, part in enumerate(values):
            yield from _blocks(part, dimensions - 1, (*index, number))


def _cells(row: Numbers) -> list[str]:
    return [_cell(value) for value in row] if isinstance(row, tuple) else [_cell(row)]


def _cell(value: Numbers) -> str:
    """Six digits, all of an integer; a pair is a complex number."""
    if isinstance(value, int):
        return str(value)
    if not isinstance(value, tuple):
        return f"{value:.6g}"
    if len(value) == 2 and not any(isinstance(part, tuple) for part in value):
        real, imaginary = value
        sign = "" if (text := _cell(imaginary)).startswith("-") else "+"
        return f"{_cell(real)}{sign}{text}i"
    return "(" + ", ".join(map(_cell, value)) + ")"
