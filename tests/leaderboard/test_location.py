"""Whether there is a store where somebody says."""

from pathlib import Path

import pytest

from leaderboard.location import missing_file, store_url


def test_a_file_that_is_there_or_not(tmp_path: Path) -> None:
    file = tmp_path / "results of 2026%.sqlite"
    assert missing_file(store_url(file)) == file
    file.touch()
    assert missing_file(store_url(file)) is None


@pytest.mark.parametrize(
    "url",
    [
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:///file:nowhere.sqlite?uri=true",
        "postgresql+psycopg://judge@db.example.org/contest",
        "nonsense://nowhere",
        "://",
    ],
)
def test_no_file_can_be_missing(url: str) -> None:
    assert missing_file(url) is None
