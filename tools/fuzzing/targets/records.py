"""Records of a store, boards as CSV, and untrusted text."""

import io
import warnings
from types import SimpleNamespace
from typing import Any

from support.samples import result, unranked

from harness.records.result import Result
from harness.text.plain import head, plain, plain_lines, tail
from leaderboard.ranking import board, read_csv, to_csv
from leaderboard.rows import read_result as read_row
from leaderboard.schema import checksum
from tools.fuzzing.targets.target import ACCEPTED, HUGE, UNBUILT, WRONG, Target, decoded, render


def read_result(data: bytes) -> None:
    """A record of a store: a Result that can be shown and stored again, or a corrupt row."""
    text = decoded(data)
    row: Any = SimpleNamespace(seq=1, id="r1", record=text, checksum=checksum(text))
    outcome = read_row(row)
    if not isinstance(outcome, Result):
        assert outcome.reason
        try:
            outcome = Result.from_json(text)
        except (ValueError, RecursionError):
            return
    # Compared as text: a NaN is not equal to itself.
    assert Result.from_json(outcome.to_json()).to_json() == outcome.to_json()
    render(outcome)


def read_board(data: bytes) -> None:
    """A board as CSV: a frame or a ValueError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            frame = read_csv(io.StringIO(decoded(data)))
        except ValueError:
            return
    assert len(frame.columns)


def show_text(data: bytes) -> None:
    """Untrusted text: whatever it was, what is shown is harmless and of the size asked for."""
    limit = data[0] + 1 if data else 1
    text = data[1:].decode("utf-8", "surrogateescape")
    for shown in (plain(text), plain(text, limit)):
        assert all(c.isprintable() or c in _SPACES for c in shown), repr(shown)
    assert len(plain(text, limit)) <= limit
    for shown in (plain_lines(text), head(text, 3, limit), tail(text, 3, limit)):
        assert all(c.isprintable() or c == "\n" or c in _SPACES for c in shown), repr(shown)


_SPACES = frozenset(
    "\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
) | {chr(c) for c in (*range(0xE000, 0xF900), *range(0xF0000, 0x110000))}
"""What Python does not call printable and nothing interprets: wide spaces and private letters."""


def _board_csv() -> bytes:
    file = io.StringIO()
    to_csv(board([result(), unranked()]), file)
    return file.getvalue().encode()


TARGETS = (
    Target(
        name="result",
        run=read_result,
        seeds=(
            *(each.to_json().encode() for each in (ACCEPTED, WRONG, UNBUILT)),
            ACCEPTED.to_json().encode().replace(b":8192", b":" + HUGE),
            WRONG.to_json().encode().replace(b"[1,2.5]", b"[%b,%b]" % (HUGE, HUGE)),
            WRONG.to_json().encode().replace(b'"shape":[2,2]', b'"shape":[1]'),
        ),
        words=("NaN", "Infinity", "-1", "1e999", "null", "true", '"schema":1', "9" * 40),
        most=12_000,
    ),
    Target(name="board", run=read_board, seeds=(_board_csv(),), words=('"', ",,", "\n")),
    Target(
        name="text",
        run=show_text,
        seeds=(b"\x20plain\x1b[31mred\x1b]8;;http://x\x07y\xc2\x9b2J", "ü\u202e\u2066".encode()),
        words=("\x1b[", "\x1b]8;;", "\x9b", "\u202e", "::error::", "##[error]", "\u200b"),
    ),
)
