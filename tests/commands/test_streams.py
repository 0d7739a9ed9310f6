"""Standard streams of a real process: closed, full, or read by nobody."""

from pathlib import Path

import pytest
from support.commands import ROOT, in_shell, words
from support.corpus import rest_in_corpus

from leaderboard.store import Store

WRONG = "import torch\n\n\ndef solution(*args):\n    pass\n"


def _told(script: str, folder: Path) -> tuple[int, str, str]:
    Store.open(str(folder / "s.sqlite")).close()
    places = {"HARNESS_PROBLEMS": str(ROOT / "problems"), "HARNESS_STORE": str(folder / "s.sqlite")}
    done = in_shell(script, folder, variables=places)
    assert "internal error" not in done.stderr
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "command",
    rest_in_corpus([["problems"], ["problems", "show", "softmax"], ["leaderboard", "--csv", "-"]]),
)
def test_a_reader_that_has_had_enough_is_no_verdict(tmp_path: Path, command: list[str]) -> None:
    script = f"{words(*command)} | head -c 1; echo ${{PIPESTATUS[0]}}"
    status, out, err = _told(script, tmp_path)
    assert (status, out[1:].strip(), err) == (0, "0", "")


@pytest.mark.corpus
@pytest.mark.parametrize("closed", ["2>&-", ">&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_error(tmp_path: Path, closed: str) -> None:
    status, _, err = _told(f"{words('problems')} {closed}", tmp_path)
    assert (status, err) == (0, "")


@pytest.mark.corpus
@pytest.mark.parametrize("closed", ["2>&-", ">&- 2>&-"])
def test_no_file_becomes_a_closed_stream(tmp_path: Path, closed: str) -> None:
    lines = ROOT / "leaderboard/boards"
    file = sorted(lines.glob("*.jsonl"))[0]
    assert _told(f"{words('import', file)} {closed}", tmp_path)[0] == 0
    status, out, err = _told(words("export"), tmp_path)
    assert (status, out.count("\n") > 1, "result" in err) == (0, True, True)


@pytest.mark.parametrize("command", rest_in_corpus([["export"], ["leaderboard", "--json", "-"]]))
def test_data_for_a_closed_stdout_is_refused(tmp_path: Path, command: list[str]) -> None:
    status, _, err = _told(f"{words(*command)} >&-", tmp_path)
    assert (status, err) == (3, "error: stdout is closed: name a file to write to, or open it\n")


@pytest.mark.corpus
@pytest.mark.parametrize("command", [["problems"], ["export"], ["leaderboard", "--csv", "-"]])
def test_a_full_stdout_is_named(tmp_path: Path, command: list[str]) -> None:
    status, _, err = _told(f"{words(*command)} > /dev/full", tmp_path)
    assert status == 3
    assert err == (
        "error: cannot write stdout: no space left on its disk; make room there, or name another "
        "place\n"
    )
    assert _told(f"{words(*command)} > /dev/full 2>&1", tmp_path)[0] == 3


@pytest.mark.corpus
def test_what_is_graded_behind_a_lost_stdout_is_recorded(tmp_path: Path) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(f"# {name}\n{WRONG}")
    options = "--problem vector-add --device cpu --no-shrink --author me"
    script = (
        f"{words('submit', 'a.py', 'b.py')} {options} | head -1; echo ${{PIPESTATUS[0]}}\n"
        f"{words('submissions', 'list', '--json')}"
    )
    status, out, err = _told(script, tmp_path)
    assert status == 0
    first, code, *rest = out.splitlines()
    assert (first.split()[0], code) == ("WRONG_ANSWER", "1")
    assert "".join(rest).count('"verdict": "WRONG_ANSWER"') == 2
    assert err.count("nobody reads stdout any more; going on") <= 1
