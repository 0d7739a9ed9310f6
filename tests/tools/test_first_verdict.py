"""The time to a first verdict: that the two commands are timed, not how long they take."""

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tools import first_verdict
from tools.first_verdict import Timed, measured, report

MAKEFILE = """
check:
\tmkdir .venv && touch .venv/.installed
\t@echo "VERDICT  vector-add · anonymous/mine · cuda"
\t@test -s $(FILE) && test $(PROBLEM) = vector-add
"""


def repository(folder: Path, makefile: str) -> Path:
    folder.mkdir()
    (folder / "Makefile").write_text(makefile)
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    for words in (("init", "-q"), ("add", "-A"), (*who, "commit", "-q", "-m", "one")):
        subprocess.run(["git", "-C", str(folder), *words], check=True)
    return folder


def test_two_commands_are_timed(tmp_path: Path) -> None:
    place = tmp_path / "new"
    place.mkdir()
    timed = measured(str(repository(tmp_path / "origin", MAKEFILE)), place)
    assert timed.verdict == "VERDICT"
    assert timed.clone_s > 0
    assert timed.cpu_s > 0
    assert timed.total_s == timed.clone_s + timed.setup_s + timed.verdict_s


@pytest.mark.parametrize(
    ("makefile", "said"),
    [("check:\n\t@echo broken && false\n", "make ended with 2: broken"),
     ("check:\n\tmkdir .venv && touch .venv/.installed\n", "no verdict")],
)  # fmt: skip
def test_what_fails_is_said(makefile: str, said: str, tmp_path: Path) -> None:
    place = tmp_path / "new"
    place.mkdir()
    with pytest.raises(RuntimeError, match=said):
        measured(str(repository(tmp_path / "origin", makefile)), place)


def test_what_never_ends_is_stopped_with_all_that_it_started(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    makefile = f"check:\n\t@echo busy; (sleep 300 & echo $$! > {tmp_path}/pid; wait)\n"
    url = str(repository(tmp_path / "origin", makefile))
    real = subprocess.Popen.communicate

    def communicate(process: subprocess.Popen[str], timeout: float | None = None) -> Any:
        if "check" not in str(process.args) or timeout is None:
            return real(process, timeout=timeout)
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
            time.sleep(0.01)
        return real(process, timeout=0.0)

    monkeypatch.setattr(subprocess.Popen, "communicate", communicate)
    monkeypatch.setattr("sys.argv", ["x", "--url", url])
    assert first_verdict.main() == 2
    assert "error: make was stopped after 1800 s: busy" in capsys.readouterr().err
    assert not _runs(int((tmp_path / "pid").read_text()))


def _runs(process: int) -> bool:
    """Whether it is there and has not ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_the_report_and_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    timed = Timed(clone_s=2.0, setup_s=40.0, verdict_s=4.0, cpu_s=50.0, verdict="ACCEPTED")
    assert report(timed, 60).splitlines()[-1] == "in all          46.0 s, within 60.0 s"
    monkeypatch.setattr(first_verdict, "measured", lambda *_: timed)
    for limit, status in (("60", 0), ("45", 1)):
        monkeypatch.setattr("sys.argv", ["x", "--limit", limit])
        assert first_verdict.main() == status
    assert "more than 45.0 s" in capsys.readouterr().out
