"""The progress of a long job: a line on stderr, if that is a terminal."""

import sys
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing
from typing import TextIO, TypeVar

from rich import progress as rich_progress
from rich.console import Console, RenderableType
from rich.text import Text

from harness.text.plain import plain

T = TypeVar("T")

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

    def counts(self, text: str) -> None:
        """What came of the files so far, shown below the phases; empty: nothing."""

    def advance(self, n: int = 1, note: Note = "") -> None:
        """``n`` more steps of the phase are done; ``note`` says what the next is, or what is known.

        One that takes a while to make is a function, which is called only if the note is shown.
        """

    def finish(self) -> None:
        """The job is over, well or badly: remove what is shown. May be called again."""

    def beside(self, name: str) -> "Progress":  # noqa: ARG002
        """The progress of one of several who work side by side: a line of its own, so named."""
        return self

    @property
    def shown(self) -> bool:
        """Whether anybody sees it."""
        return False


class NoProgress(Progress):
    """Progress that is not shown."""


class _Bar(rich_progress.Progress):
    below = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        """The table of the tasks, and the line below it."""
        yield from super().get_renderables()
        if self.below and self.tasks:
            yield Text(self.below, style="dim", no_wrap=True, overflow="ellipsis")


class TerminalProgress(Progress):
    """Some lines that are redrawn, and gone at the end."""

    def __init__(self, console: Console) -> None:
        self._bar = _Bar(
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
        self._name = ""

    def phase(self, name: str, total: int | None = None) -> None:
        """Start a phase, in the place of the one before."""
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._task = self._bar.add_task(plain(self._name + name, _NAME), total=total, note="")
        self._bar.start()

    def overall(self, done: int, total: int, note: str = "") -> None:
        """Show it on a line of its own; it stays hidden, not forgotten, between phases."""
        if self._files is None:
            self._files = self._bar.add_task("files", total=total, note="")
        self._bar.update(self._files, completed=done, note=plain(note, _NOTE))
        if done >= total:
            self._bar.remove_task(self._files)
            self._files = None

    def counts(self, text: str) -> None:
        """Show it below the phases, as much as one line holds."""
        self._bar.below = plain(text, 200)

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

    def beside(self, name: str) -> Progress:
        """Another line of the same display."""
        other = TerminalProgress(self._bar.console)
        other._bar, other._name = self._bar, f"{name}: "
        return other

    @property
    def shown(self) -> bool:
        """It is."""
        return True


def progress(stream: TextIO | None = None) -> Progress:
    """A :class:`TerminalProgress` on ``stream`` (stderr), or nothing shown if it is no terminal."""
    stream = stream or sys.stderr
    console = Console(file=stream)
    # isatty and not only rich's view: FORCE_COLOR asks for colours, not for a moving bar in a log.
    if stream.isatty() and console.is_terminal and not console.is_dumb_terminal:
        return TerminalProgress(console)
    return NoProgress()


class RunProgress(Progress):
    """The progress of a run over ``total`` files, of which a grader gets some at a time.

    Args:
        shown: what shows it.
        known: how many files have which verdict, or none, by its name.
    """

    def __init__(
        self,
        shown: Progress,
        total: int,
        known: Callable[[], Mapping[str, int]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._shown, self._total, self._known, self._clock = shown, total, known, clock
        self._pace: Pace | None = None

    def phase(self, name: str, total: int | None = None) -> None:
        """As of what shows it."""
        self._shown.phase(name, total)

    def advance(self, n: int = 1, note: Note = "") -> None:
        """As of what shows it."""
        self._shown.advance(n, note)

    def finish(self) -> None:
        """As of what shows it."""
        self._shown.finish()

    def beside(self, name: str) -> Progress:
        """As of what shows it."""
        return self._shown.beside(name)

    @property
    def shown(self) -> bool:
        """Whether what shows it does."""
        return self._shown.shown

    def overall(self, done: int, total: int, note: str = "") -> None:  # noqa: ARG002
        """Show how far the whole run is, its pace, and the verdicts so far."""
        known = self._known()
        judged = sum(known.values())
        if self._pace is None:  # what is recorded already was known before anything was graded
            self._pace = Pace(self._total, self._clock, before=judged)
        self._shown.overall(judged, self._total, self._pace.summary(judged))
        self._shown.counts(", ".join(f"{count:,} {name}" for name, count in known.items()))


def counted(
    shown: Progress, outcomes: Generator[T, None, None], total: int
) -> Generator[T, None, None]:
    """The ``outcomes`` of ``total`` files; shows how many there are, and the pace, if not of one.

    The phase is over before each, for whoever asks may print it.
    """
    pace = Pace(total)
    if total > 1:
        shown.overall(0, total)
    try:
        with closing(outcomes):
            for done, outcome in enumerate(outcomes, 1):
                shown.finish()
                yield outcome
                if total > 1:
                    shown.overall(done, total, pace.summary(done))
    finally:
        shown.overall(total, total)


class Pace:
    """How fast a run over many files goes; counts from the moment when it is made.

    ``before`` files were done by then.
    """

    def __init__(
        self, total: int, clock: Callable[[], float] = time.monotonic, *, before: int = 0
    ) -> None:
        self._total = total
        self._before = before
        self._clock = clock
        self._start = clock()

    def summary(self, done: int) -> str:
        """``9.2 a minute, 22 min left``; empty as long as nothing is known."""
        spent = self._clock() - self._start
        since = done - self._before
        if since <= 0 or spent <= 0:
            return ""
        left = (self._total - done) * spent / since
        return f"{60 * since / spent:.3g} a minute, {_duration(left)} left"


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.1f} h"
