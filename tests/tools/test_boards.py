"""The committed boards are what their records say."""

from pathlib import Path

import pandas as pd
import pytest

from harness.commands.exchange import read_lines
from harness.records.result import Result, Verdict
from leaderboard.ranking import read_csv
from tools.boards import CSV, FOLDER, README, made


@pytest.fixture(scope="module")
def files() -> dict[Path, str]:
    return made()


def test_what_is_committed_is_what_the_records_make(files: dict[Path, str]) -> None:
    for path, text in files.items():
        assert path.read_text(encoding="utf-8") == text, "run python -m tools.boards"


def test_all_accepted_records_that_count_are_on_a_board() -> None:
    entries = [entry for file in FOLDER.glob("*.jsonl") for entry in read_lines(file)]
    results = [entry for entry in entries if isinstance(entry, Result)]
    ruled = {entry.result for entry in entries if not isinstance(entry, Result)}
    accepted = {r.id for r in results if r.verdict is Verdict.ACCEPTED and r.id not in ruled}
    board = read_csv(CSV)
    assert len(accepted) > 50
    assert set(board["result"]) == accepted
    assert set(board["device_kind"]) == {"cuda"}
    assert {"cuda", "triton", "pytorch", "ptx", "tilelang", "cute", "cutile"} <= set(
        board["language"]
    )


def test_readme_shows_the_first_of_each(files: dict[Path, str]) -> None:
    text = files[README]
    board = read_csv(CSV)
    firsts = board.drop_duplicates(["problem", "dtype", "device"])
    for row in firsts.itertuples():
        assert f"| {row.problem} | {row.dtype} | " in text
        assert f"[{row.solution}](../../solutions/{row.problem}/{row.author})" in text
        assert not pd.isna(row.speedup)
