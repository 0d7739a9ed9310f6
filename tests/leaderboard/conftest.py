"""A store in a file; makes the builders in tests/samples.py importable, however pytest began."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from leaderboard.store import Store

sys.path.insert(0, str(Path(__file__).parents[1]))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "results.sqlite"


@pytest.fixture
def opened(file: Path) -> Iterator[Store]:
    with Store.open(str(file)) as opened:
        yield opened
