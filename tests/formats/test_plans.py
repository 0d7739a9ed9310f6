"""How a case of a foreign problem goes into the memory of a card."""

from dataclasses import replace

import pytest

from harness.formats.description import FormatCase
from harness.formats.plans import ROWS, STREAMED, chosen, planned, plans, rows_at_once
from harness.problem.sampling.footprint import Answers, some_rows
from harness.problem.terms import Direction, TensorSpec

GIB = 1 << 30
ELEMENTS = 1 << 18
"""Of a row."""


def case(*, read: int, written: int, own: bool = False, by_rows: bool = False) -> FormatCase:
    """A case with so many rows of float32, a MiB each, read and written."""
    tensors = tuple(
        TensorSpec(
            name=name, dtype="float32", shape=(rows, ELEMENTS), strides=(ELEMENTS, 1), direction=to
        )
        for name, rows, to in (("x", read, Direction.IN), ("y", written, Direction.OUT))
    )
    return FormatCase(
        key="a", tensors=tensors, sizes={}, scalars={}, timed=True, construct="",
        rtol=1e-4, atol=1e-4, own=own, by_rows=by_rows,
    )  # fmt: skip


def label(each: FormatCase, room: float) -> str | None:
    """What the plan for so many GiB adds to a spec; None where nothing goes into them."""
    found = chosen(each, int(room * GIB), small=False)
    return None if found is None else found[1].label


def test_there_is_room_for_all() -> None:
    each = case(read=1024, written=1024)
    assert chosen(each, None, small=False) == (
        plans(each, small=False)[0].bytes(each.tensors),
        plans(each, small=False)[0],
    )
    assert label(each, 13) == ""


@pytest.mark.parametrize(
    ("read", "written", "room", "wanted"),
    [
        (6144, 6144, 67, ",calls=1"),  # 1.6e9 numbers each, on a card of 80 GB: 60 and 6 GiB
        (6144, 6144, 65, ",answers=host"),
        (6144, 6144, 22.5, ",answers=host"),  # the same on 24 GiB
        (8192, 8192, 22.5, None),
        (200, 3400, 22.5, ",answers=host"),  # a convolution that makes much of little
        (3400, 1, 22.5, ""),  # and a sum
    ],
)
def test_answers_stay_on_the_host_rather_than_that_a_reference_has_no_room(
    read: int, written: int, room: float, wanted: str | None
) -> None:
    assert label(case(read=read, written=written), room) == wanted


@pytest.mark.parametrize(
    ("rows", "room", "wanted"),
    [
        (6144, 67, ",calls=1"),
        (6144, 65, ",answers=rows"),  # rather than that a reference has no room
        (6144, 22.5, ",answers=rows"),
        (6144, 18.9, ",answers=host"),  # a piece takes a GiB
        (6144, 18, None),
    ],
)
def test_rows_that_do_not_depend_on_each_other_are_asked_for_on_the_card(
    rows: int, room: float, wanted: str | None
) -> None:
    assert label(case(read=rows, written=rows, by_rows=True), room) == wanted


def test_a_piece_is_bounded_but_has_one_row() -> None:
    each = case(read=6144, written=6144, by_rows=True)
    rows = rows_at_once(each.tensors)
    assert rows == 1024 // (1 + 2 + 4 * 2)  # MiB: the input as it is and wide, four wide outputs
    assert some_rows(each.tensors, rows) <= GIB < some_rows(each.tensors, rows + 1)
    weight = TensorSpec(
        name="self.w", dtype="float32", shape=(3,), strides=(1,), direction=Direction.IN
    )
    assert rows_at_once((*each.tensors, weight)) == rows
    assert ROWS.bytes((*each.tensors, weight)) > ROWS.bytes(each.tensors)
    (x, y) = (replace(spec, shape=(2, GIB), strides=(GIB, 1)) for spec in each.tensors)
    assert rows_at_once((x, y)) == 1
    assert ROWS.bytes((x, y)) - STREAMED.bytes((x, y)) >= (4 + 8 + 4 * 8) * GIB
    assert rows_at_once(case(read=8, written=8).tensors) == 8


def test_a_case_knows_how_its_answers_come() -> None:
    each = case(read=6144, written=6144, by_rows=True)
    there, rows, host = (planned(each, plan) for plan in (",calls=1", ROWS.label, STREAMED.label))
    assert (there.streamed, rows.streamed, host.streamed) == (False, True, True)
    assert (rows.rows, rows.answers_on_host) == (rows_at_once(each.tensors), False)
    assert (host.rows, host.answers_on_host) == (0, True)
    own = case(read=6144, written=6144, own=True, by_rows=True)
    assert not planned(own, STREAMED.label).streamed and ROWS not in plans(own, small=False)


def test_what_the_formats_own_check_decides_has_its_answers_on_the_card() -> None:
    each = case(read=200, written=3400, own=True)
    assert label(each, 22.5) == ",calls=1"
    assert STREAMED not in plans(each, small=False)


def test_a_small_case_is_on_the_processor() -> None:
    found = chosen(case(read=1, written=1), None, small=True)
    assert found is not None
    assert found[1].answers is Answers.HERE
