"""Progress: on a terminal only, and gone afterwards."""

import contextlib
import io
import re
from collections.abc import Iterator

import pytest
from rich.console import Console
from rich.control import strip_control_codes

from harness.grading.benchmark import so_far
from harness.progress.progress import (
    NoProgress,
    Pace,
    Progress,
    RunProgress,
    TerminalProgress,
    progress,
)
from harness.timing.statistics import Timed


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _job(shown: Progress) -> None:
    shown.advance()
    shown.overall(1, 3, "2 a minute")
    shown.phase("compile")
    shown.phase("cases", 3)
    shown.advance(note="m=1,n=1")
    shown.advance(2, note=lambda: "1.31×")
    shown.finish()
    shown.finish()


@contextlib.contextmanager
def _bar(console: Console) -> Iterator[TerminalProgress]:
    bar = TerminalProgress(console)
    try:
        yield bar
    finally:
        bar.finish()


def test_nothing_is_written_to_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    stream = io.StringIO()
    shown = progress(stream)
    assert isinstance(shown, NoProgress)
    _job(shown)
    shown.advance(note=lambda: 1 / 0)  # a note that is not shown is not made
    assert stream.getvalue() == ""


def test_a_terminal_shows_phases_counts_and_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = _Terminal()
    shown = progress(stream)
    assert isinstance(shown, TerminalProgress)
    _job(shown)
    text = stream.getvalue()
    assert "cases" in text
    assert "3/3" in text
    assert "1/3" in text
    assert "2 a minute" in text
    assert text.endswith("\x1b[2K"), "the line is cleared"
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h"), "the cursor is back"


def test_a_dumb_terminal_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(progress(_Terminal()), NoProgress)


def test_names_are_not_interpreted() -> None:
    stream = _Terminal()
    with _bar(Console(file=stream, force_terminal=True, width=120, color_system=None)) as bar:
        bar.phase("[red]x[/nope]\x1b[2J", 2)
        bar.advance(note="[/]\u202e")
    assert "[red]x[/nope]" in stream.getvalue()
    assert "[/]\\u202e" in stream.getvalue()


def test_an_exception_gives_the_terminal_back() -> None:
    stream = _Terminal()
    console = Console(file=stream, force_terminal=True)
    with pytest.raises(KeyboardInterrupt), _bar(console) as bar:
        bar.phase("work", 1)
        raise KeyboardInterrupt
    assert stream.getvalue().count("\x1b[?25l") == stream.getvalue().count("\x1b[?25h")


def test_a_shape_that_is_being_timed_shows_its_interval_at_80_columns() -> None:
    stream = _Terminal()
    times = [Timed(1.2345e-5 * (1 + 0.001 * (block % 3))) for block in range(12)]
    baseline = [Timed(1.6e-5)] * 12
    with _bar(Console(file=stream, force_terminal=True, width=80, color_system=None)) as bar:
        bar.phase("time m=4096,n=4096,k=4096,alpha=0.01 beside compiled", 40)
        for block in range(1, 13):
            bar.advance(note=lambda n=block: so_far((times[:n], baseline[:n])))
    last = strip_control_codes(stream.getvalue()).split("\n")[-2]
    assert "time m=4096" in last
    assert "12/40" in last
    assert re.search(r"12\.345 ± 0\.012 µs, 1\.2961× ± 0\.001\d$", last)
    assert "…" not in last.split("12/40")[1]


def test_one_block_has_no_interval_yet() -> None:
    assert so_far(([Timed(1.23e-5)], [Timed(1.23e-5)])) == "12.3 ± ? µs, 1.00× ± ?"


def test_the_line_of_a_run_stays_until_all_files_are_done() -> None:
    stream = _Terminal()
    bar = TerminalProgress(Console(file=stream, force_terminal=True, width=80, color_system=None))
    for done in range(2):
        bar.overall(done, 2, "9.2 a minute, 22 min left")
        bar.phase("build")
        bar.finish()
    assert "9.2 a minute, 22 min left" in strip_control_codes(stream.getvalue())
    bar.overall(2, 2)
    stream.truncate(0)
    bar.phase("other work")
    bar.finish()
    assert "files" not in stream.getvalue()


def test_pace_says_files_a_minute_and_the_time_left() -> None:
    now = 100.0
    pace = Pace(200, clock=lambda: now)
    assert pace.summary(0) == ""
    now += 60
    assert pace.summary(10) == "10 a minute, 19 min left"
    assert pace.summary(195) == "195 a minute, 2 s left"
    assert pace.summary(1) == "1 a minute, 3.3 h left"


def test_a_run_shows_pace_rest_and_verdicts_over_all_its_batches() -> None:
    stream = _Terminal()
    bar = TerminalProgress(Console(file=stream, force_terminal=True, width=80, color_system=None))
    now, known = 0.0, {"ACCEPTED": 1000}  # recorded already
    run = RunProgress(bar, 2010, lambda: known, clock=lambda: now)
    run.overall(0, 1000, "of the batch")
    run.phase("build")
    now, known = 60.0, {"ACCEPTED": 1006, "WRONG_ANSWER": 3, "not judged": 1}
    run.overall(5, 10)
    run.advance()
    run.finish()
    text = strip_control_codes(stream.getvalue())
    assert "1010/2010" in text
    assert "10 a minute, 100 min left" in text or "10 a minute, 1.7 h left" in text
    assert "1,006 ACCEPTED, 3 WRONG_ANSWER, 1 not judged" in text
    assert "of the batch" not in text


def test_verdicts_are_cut_to_a_line() -> None:
    stream = _Terminal()
    bar = TerminalProgress(Console(file=stream, force_terminal=True, width=40, color_system=None))
    bar.counts("1 ACCEPTED\u202e, " * 20)
    bar.phase("build")
    bar.finish()
    shown = [each for each in strip_control_codes(stream.getvalue()).splitlines() if "ACC" in each]
    assert shown
    assert all(each.count("ACC") <= 3 and "…" in each for each in shown)
    assert "\u202e" not in stream.getvalue()


def test_several_at_work_have_a_line_each_in_one_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = _Terminal()
    shown = progress(stream)
    lines = [shown.beside(f"card {number}") for number in range(2)]
    assert shown.shown
    assert all(line.shown for line in lines)
    try:
        shown.overall(1, 3)
        for number, line in enumerate(lines):
            line.phase(f"time {number}", 4)
            line.advance(number + 1)
        shown.finish()  # a result is printed
        lines[1].phase("cases", 7)
        text = strip_control_codes(stream.getvalue())
        for told in ("files", "card 0: time 0", "card 1: time 1"):
            assert told in text
    finally:
        for line in lines:
            line.finish()
        shown.finish()
    assert "card 1: cases" in stream.getvalue()


def test_those_who_show_nothing_show_nothing_beside() -> None:
    nobody = NoProgress()
    assert not nobody.shown
    nobody.beside("card 0").phase("time")
