"""``harness leaderboard --shapes``: times by shape as CSV."""

import csv
import io
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.samples import measurement, result

from harness.cli import cli
from harness.errors import UsageError
from leaderboard.store import Store


@pytest.fixture
def store(tmp_path: Path) -> str:
    place = str(tmp_path / "store.sqlite")
    with Store.open(place) as opened:
        for number, author in enumerate(("ann", "bea")):
            shapes = tuple(measurement(spec=f"n={n}") for n in (1, 2))
            opened.add(result(author=author, speedup=2.0 - number, measurements=shapes))
            opened.add(result(author=author, problem="softmax"))
    return place


def _run(*words: str) -> str:
    done = CliRunner().invoke(cli, ["leaderboard", *words], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_every_shape_of_every_entry_is_a_row(store: str, tmp_path: Path) -> None:
    found = list(csv.DictReader(io.StringIO(_run("gemm", "--shapes", "-", "--store", store))))
    assert [(each["author"], each["shape"]) for each in found] == [
        ("ann", "n=1"), ("ann", "n=2"), ("bea", "n=1"), ("bea", "n=2"),
    ]  # fmt: skip
    file = tmp_path / "shapes.csv"
    assert "gemm" in _run("--shapes", str(file), "--store", store)
    with open(file, encoding="utf-8", newline="") as opened:
        assert len(list(csv.reader(opened))) == 1 + 4 + 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--shapes", "-", "--csv", "-"], "only one of --csv, --json and --shapes"),
        (["--shapes", "-", "--json", "-"], "only one of --csv, --json and --shapes"),
        (["--shapes", "x.csv", "--by", "model"], "models have not"),
    ],
)
def test_what_cannot_be_together_is_told(words: list[str], said: str, store: str) -> None:
    with pytest.raises(UsageError, match=said):
        _run(*words, "--store", store)
