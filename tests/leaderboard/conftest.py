"""A store in a file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from leaderboard.store import Store


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "results.sqlite"


@pytest.fixture
def opened(file: Path) -> Iterator[Store]:
    with Store.open(str(file)) as opened:
        yield opened
