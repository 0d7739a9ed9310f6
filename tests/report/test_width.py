"""What is printed to a narrow terminal, and into a pipe."""

import io

import pytest
from rich.console import Console
from support.commands import ROOT, in_shell, words

from harness.report.tables import fitted, row, table
from harness.text.output import Unpadded


def _shown(width: int) -> list[str]:
    made = table(">rank", "author", "language", ">speed-up", "|date")
    row(made, "1", "alice", "cuda", "1.310× ± 0.003", "2026-03-01")
    stream = io.StringIO()
    console = Console(file=stream, width=width)
    console.print(fitted(made, console, "date", "language"))
    return [line.rstrip() for line in stream.getvalue().splitlines()]


@pytest.mark.parametrize(
    ("width", "titles"),
    [
        (80, "rank author language speed-up date"),
        (49, "rank author language speed-up"),
        (36, "rank author speed-up"),
        (10, None),
    ],
)
def test_the_least_important_columns_go_first(width: int, titles: str | None) -> None:
    lines = _shown(width)
    assert titles is None or (lines[0].split() == titles.split() and len(lines) == 2)


def test_spaces_at_the_ends_of_lines_are_left_out() -> None:
    stream = io.StringIO()
    print("a  b   \n  c \n\nd", file=Unpadded(stream))
    assert stream.getvalue() == "a  b\n  c\n\nd\n"


@pytest.mark.corpus
@pytest.mark.parametrize(("columns", "longest"), [("", 81), ("40", 40)])
def test_a_pipe_is_not_wrapped(tmp_path: object, columns: str, longest: int) -> None:
    listed = words("problems", "--problems", ROOT / "problems")
    done = in_shell(f"{listed} | cat", ROOT, variables={"COLUMNS": columns})
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    if columns:
        assert max(map(len, lines)) <= longest
        return
    assert max(map(len, lines)) >= longest
    assert not any(line != line.rstrip() for line in lines)
    titles = [line for line in lines if line.startswith("gemm-multiply-leakyrelu ")]
    assert len(titles) == 1
    assert titles[0].endswith("LeakyReLU Fusion")
