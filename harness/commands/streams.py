"""Standard streams that are closed, full, or that nobody reads any more: what a command does then.

A reader that has had enough (``| head``) says nothing about a submission. A command that judges
goes on, so that its results are recorded and its exit code is that of the verdicts; any other one
stops, with exit code 0. Output that is lost for another reason, as on a full disk, is an error.
"""

import contextlib
import errno
import io
import os
import select
import sys
from collections.abc import Iterator
from typing import Any, TextIO

import click

from harness.errors import MachineError
from harness.text.system_errors import cannot_write

_GONE = (errno.EPIPE, errno.ECONNRESET, errno.EBADF)
"""Errors of a stream that nobody reads, or that is closed."""


class StdoutLost(Exception):
    """Nothing more can be written to stdout, and the command need not go on."""


class _Stream(io.FileIO):
    """A standard stream; after an error it takes what is written, and drops it."""

    fault: OSError | None = None

    def write(self, data: Any, /) -> int:
        """As a file does; waits where a stream that does not block is full."""
        size = memoryview(data).nbytes
        if self.fault is None:
            try:
                while (count := super().write(data)) is None:
                    select.select([], [self], [])
                return count
            except OSError as error:
                self.fault = error
                self.lost()
        return size

    def lost(self) -> None:
        """Called at the first error. For stderr there is nobody to tell."""


class _Stdout(_Stream):
    judging = False
    """The command goes on without."""
    closed_at_start = False

    def lost(self) -> None:
        """Stop the command, or say that it goes on."""
        if not self.judging:
            raise StdoutLost
        if self.fault is not None and self.fault.errno in _GONE:
            click.echo("note: nobody reads stdout any more; going on, Ctrl-C ends", err=True)
        else:
            click.echo("note: stdout cannot be written any more; going on, Ctrl-C ends", err=True)

    @property
    def error(self) -> MachineError | None:
        """Why output was lost; None if there was no reader for it, or nothing was lost."""
        if self.fault is None or self.fault.errno in _GONE:
            return None
        return MachineError(str(cannot_write("stdout", self.fault)))


@contextlib.contextmanager
def guarded_streams() -> Iterator[None]:
    """Standard streams as above for the block, which is the whole command.

    Raises:
        SystemExit: as the block did, or with exit code 3 because output was lost.
    """
    closed = _fill_closed()
    before = sys.stdout, sys.stderr
    out, sys.stdout = _guarded(sys.stdout, 1, _Stdout)
    _, sys.stderr = _guarded(sys.stderr, 2, _Stream)
    if isinstance(out, _Stdout):
        out.closed_at_start = 1 in closed
    code: str | int | None = None
    try:
        yield
    except SystemExit as end:
        code = end.code or 0
    except StdoutLost:
        pass
    finally:
        with contextlib.suppress(StdoutLost):
            sys.stdout.flush()
        if isinstance(out, _Stdout) and out.error is not None:
            click.echo(f"error: {out.error}", err=True)
            code = MachineError.exit_code
        sys.stderr.flush()
        sys.stdout, sys.stderr = before
    if code is not None:
        sys.exit(code)


def go_on_without_stdout() -> None:
    """From now on a stdout that is lost does not end the command: it judges."""
    if (out := _stdout()) is not None:
        out.judging = True


def stdout_is_lost() -> bool:
    """Whether what is printed reaches nobody any more."""
    out = _stdout()
    return out is not None and out.fault is not None


def require_stdout() -> None:
    """Refuse to write to a stdout that was closed from the beginning.

    Raises:
        MachineError: with the remedy.
    """
    out = _stdout()
    if out is not None and out.closed_at_start:
        raise MachineError("stdout is closed: name a file to write to, or open it")


def _stdout() -> _Stdout | None:
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return raw if isinstance(raw, _Stdout) else None


def _fill_closed() -> list[int]:
    """Open standard streams that are closed, to nothing: another file would get their number."""
    closed = []
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
            closed.append(number)
    if 0 in closed:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - as long as we live
    return closed


def _guarded(
    stream: TextIO | None, number: int, kind: type[_Stream]
) -> tuple[_Stream | None, TextIO]:
    """``stream`` behind a raw file of ``kind``; itself where it is no text on a descriptor."""
    encoding = "utf-8"
    if stream is not None:
        if not isinstance(stream, io.TextIOWrapper):
            return None, stream
        stream.reconfigure(errors="replace")  # µ and ± must not be an error where they are unknown
        try:
            stream.flush()
            number = stream.fileno()
        except (OSError, ValueError):
            return None, stream
        encoding = stream.encoding
    raw = kind(number, "wb", closefd=False)
    lines = number == 2 or raw.isatty()
    text = io.TextIOWrapper(
        io.BufferedWriter(raw), encoding=encoding, errors="replace", line_buffering=lines
    )
    return raw, text
