"""Times of entries shape by shape, as rows and as CSV."""

import csv
import io

import pandas as pd
import pytest
from support.samples import measurement, result

from leaderboard.ranking import board, rows
from leaderboard.shapes import SHAPE_COLUMNS, ShapesCsv, shape_rows


def test_every_shape_of_an_entry_is_a_row() -> None:
    one = result(
        author="=1+1",
        measurements=(
            measurement(2e-6, 1.5, spec="n=1", sol_time_s=1e-6, kernels=2),
            measurement(4e-6, 2.5, spec="n=2", flops=None, bytes=None),
        ),
    )
    (row,) = rows(board([one]))
    file = io.StringIO()
    writer = ShapesCsv(file)
    writer.write(shape_rows(row, one))
    file.seek(0)
    read = pd.read_csv(file)
    assert list(read.columns) == SHAPE_COLUMNS
    assert read["shape"].tolist() == ["n=1", "n=2"]
    assert read["time_us"].tolist() == pytest.approx([2.0, 4.0])
    assert read["baseline_us"].tolist() == pytest.approx([3.0, 10.0])
    assert read["sol_fraction"].tolist() == pytest.approx([0.5, float("nan")], nan_ok=True)
    assert read["flops"].isna().tolist() == [False, True]
    assert read["rank"].tolist() == [1, 1] and read["kernels"][0] == 2
    assert set(read["author"]) == {"'=1+1"}
    assert set(read["result"]) == {one.id}


def test_without_entries_there_is_a_header() -> None:
    file = io.StringIO()
    ShapesCsv(file).write([])
    assert next(csv.reader(io.StringIO(file.getvalue()))) == SHAPE_COLUMNS
