"""The progress of a long job: a line on stderr, if that is a terminal."""

import sys
import time
from collections.abc import Callable
from typing import TextIO

from rich import progress as rich_progress
from rich.console import Console

from harness.text.plain import plain

# Together with count and clock: 80 columns.
_NAME = 24
_NOTE = 38

Note = str | Callable[[], str]


class Progress:
    """The calls by a job; they show nothing here. Names and notes may be untrusted text."""

    def phase(self, name: str, total: int | None = None) -> None:
        """Start a phase of ``total`` steps (None: not known); it ends the one before."""

    def overall(self, done: int, total: int, note: str = "") -> None:
        """So many files of a run are done, shown above every phase until all are."""

    def advance(self, n: int = 1, note: Note = "") -> None:
        """``n`` more steps of the phase are done; ``note`` says what the next is, or what is known.

        One that takes a while to make is a function, which is called only if the note is shown.
        """

    def finish(self) -> None:
        """The job is over, well or badly: remove what is shown. May be called again."""


class NoProgress(Progress):
    """Progress that is not shown."""


class TerminalProgress(Progress):
    """One line that is redrawn, and gone at the end."""

    def __init__(self, console: Console) -> None:
        self._bar = rich_progress.Progress(
            rich_progress.SpinnerColumn(),
            # No markup: the description holds names that the submitter chose.
            rich_progress.TextColumn("{task.description}", markup=False),
            rich_progress.MofNCompleteColumn(),
            rich_progress.TimeElapsedColumn(),
            rich_progress.TextColumn("{task.fields[note]}", markup=False, style="dim"),
            console=console,
            transient=True,
            # What others print meanwhile is theirs: results go to stdout untouched.
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task: rich_progress.TaskID | None = None
        self._files: rich_progress.TaskID | None = None

    def phase(self, name: str, total: int | None = None) -> None:
        """Start a phase, in the place of the one before."""
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._task = self._bar.add_task(plain(name, _NAME), total=total, note="")
        self._bar.start()

    def overall(self, done: int, total: int, note: str = "") -> None:
        """Show it on a line of its own; it stays hidden, not forgotten, between phases."""
        if self._files is None:
            self._files = self._bar.add_task("files", total=total, note="")
        self._bar.update(self._files, completed=done, note=plain(note, _NOTE))
        if done >= total:
            self._bar.remove_task(self._files)
            self._files = None

    def advance(self, n: int = 1, note: Note = "") -> None:
        """Count ``n`` steps; before the first phase, nothing."""
        if self._task is not None:
            text = note if isinstance(note, str) else note()
            self._bar.update(self._task, advance=n, note=plain(text, _NOTE))

    def finish(self) -> None:
        """Clear the line and give the cursor back."""
        self._bar.stop()
        if self._task is not None:
            self._bar.remove_task(self._task)
            self._task = None


def progress(stream: TextIO | None = None) -> Progress:
    """A :class:`TerminalProgress` on ``stream`` (stderr), or nothing shown if it is no terminal."""
    stream = stream or sys.stderr
    console = Console(file=stream)
    # isatty and not only rich's view: FORCE_COLOR asks for colours, not for a moving bar in a log.
    if stream.isatty() and console.is_terminal and not console.is_dumb_terminal:
        return TerminalProgress(console)
    return NoProgress()


class Pace:
    """How fast a run over many files goes; counts from the moment when it is made."""

    def __init__(self, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._total = total
        self._clock = clock
        self._start = clock()

    def summary(self, done: int) -> str:
        """``9.2 a minute, 22 min left``; empty as long as nothing is known."""
        spent = self._clock() - self._start
        if done == 0 or spent <= 0:
            return ""
        left = (self._total - done) * spent / done
        return f"{60 * done / spent:.3g} a minute, {_duration(left)} left"


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.1f} h"
