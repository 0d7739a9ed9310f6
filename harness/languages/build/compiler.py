"""Call a compiler on a submission within limits, and judge how that ends."""

import errno
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from harness.languages.build import ptxas
from harness.languages.build.cache import BuildError, BuildOutcome
from harness.languages.build.diagnostics import (
    CHILD_KILLED,
    CRASHED,
    LOG_BYTES,
    MESSAGE_CHARACTERS,
    OUT_OF_MEMORY,
    PLACE,
    first_error,
    neutral,
)
from harness.records.result import Verdict
from harness.sandbox.command import CommandResult, clean_environment, run_limited
from harness.sandbox.support import parts
from harness.solution.contract import EntryPoint
from harness.text.system_errors import has_less

MEMORY_BYTES = 8 << 30
"""Memory of one compiler, its children included; less where the machine has less to give."""
DISK_BYTES = 256 << 20
"""A disk with less room may have been full while a compiler was at work."""
_CRASHES = (signal.SIGILL, signal.SIGABRT, signal.SIGFPE, signal.SIGSEGV)


class CompilerCall(NamedTuple):
    """A compiler's call on files of fixed names: no part of the command line is the user's.

    The outcome depends on nothing else, so a call's ``repr`` is part of a key of the build cache.
    """

    tool: str
    """The compiler's name in messages."""
    version: str
    """The version of the compiler, and of those that it calls."""
    tools: tuple[Path, ...]
    """The compiler, and those that it calls: their folders can be read."""
    command: tuple[str, ...]
    """The command, for a private directory."""
    inputs: Mapping[str, bytes]
    """The files to write there first, by name."""
    readable: tuple[Path, ...] = ()
    """What else can be read."""
    source: str = "the file"
    """What is compiled, in messages: a file's name is replaced by that which the user gave it."""
    of_limit: str = ""
    """How its time follows from the problem's limit, in messages; empty where it is the same."""

    def run(self, folder: Path, seconds: float) -> CommandResult:
        """Run it in ``folder``, at most ``seconds`` of wall time."""
        for name, content in self.inputs.items():
            (folder / name).write_bytes(content)
        return run_limited(
            self.command,
            cwd=folder,
            seconds=seconds,
            memory_bytes=MEMORY_BYTES,
            output_bytes=4 * LOG_BYTES,
            environment=clean_environment(folder, [tool.parent for tool in self.tools]),
            readable=[*self.readable, *(part for tool in self.tools for part in parts(tool))],
        )

    def build(
        self, folder: Path, seconds: float, *, on_rejection: Callable[[], object] = lambda: None
    ) -> BuildOutcome:
        """The outcome of :meth:`run`, without files, with the figures that ptxas printed.

        A failure is reusable if it is surely the source's. ``on_rejection`` is called before the
        source is blamed.
        """
        finished = self.run(folder, seconds)
        log = neutral(finished.output, folder)
        if failure := limit_failure(self.tool, finished, seconds, self.source, self.of_limit):
            return BuildOutcome(failure=failure, log=log, seconds=finished.seconds, reusable=False)
        log = ptxas.without_info(log)
        if finished.ok:
            kernels = ptxas.parse(finished.output)
            return BuildOutcome(log=log, kernels=kernels, seconds=finished.seconds)
        # The words alone may be the submission's.
        if os.strerror(errno.ENOSPC) in finished.output and has_less(folder, DISK_BYTES):
            return BuildOutcome(failure=disk_full(self.tool), log=log, reusable=False)
        on_rejection()
        failure = compile_failure(self.tool, finished, log)
        reusable = bool(PLACE.search(failure.message)) or lacks_entry(log)
        return BuildOutcome(failure=failure, log=log, seconds=finished.seconds, reusable=reusable)


def limit_failure(
    tool: str,
    finished: CommandResult,
    seconds: float,
    source: str = "the file",
    of_limit: str = "",
) -> BuildError | None:
    """The verdict on a compiler that was stopped, by us or by others; None if it was not.

    ``of_limit`` says how ``seconds`` follow from the problem's limit. One that was killed when it
    held nearly all the memory that it may, or was refused more, has run into that limit: the
    kernel was only quicker.
    """
    if finished.timed_out:
        message = (
            f"compiling {source} took longer than {seconds:g} s, the problem's limit build_s"
            f"{of_limit} ({tool} was stopped)"
        )
        return BuildError(verdict=Verdict.TIME_LIMIT, message=message)
    killed = finished.returncode == -signal.SIGKILL or CHILD_KILLED.search(finished.output)
    if finished.over_memory or (
        not finished.ok
        and (OUT_OF_MEMORY.search(finished.output) or (killed and finished.near_memory_limit))
    ):
        message = finished.memory_message(f"compiling {source} with {tool}", MEMORY_BYTES)
        return BuildError(verdict=Verdict.MEMORY_LIMIT, message=message)
    return killed_failure(tool) if killed and not finished.ok else None


def killed_failure(tool: str) -> BuildError:
    """The verdict on a tool that was killed from outside: none on the submission."""
    return BuildError(
        verdict=Verdict.INTERNAL_ERROR,
        message=f"{tool} was killed, and not by a limit of the judge's: is the machine out of "
        "memory? Grade again",
    )


def disk_full(tool: str) -> BuildError:
    """The verdict on a tool whose temporary files had no room: none on the submission."""
    return BuildError(
        verdict=Verdict.INTERNAL_ERROR,
        message=f"no space left on the disk with the temporary files of {tool}: make room, or name "
        "another folder with TMPDIR; then grade again",
    )


def compile_failure(tool: str, finished: CommandResult, log: str) -> BuildError:
    """The verdict on a submission that a compiler rejects, with its complaints in ``log``.

    A compiler that crashes rejects it, too. Without any complaint the submission is not to blame,
    but for a flood: nvcc is silent when a host compiler that it has started is killed.
    """
    if lacks_entry(log):
        message = "the file defines no solution() with the problem's parameters"
        return BuildError(verdict=Verdict.INVALID_SUBMISSION, message=message)
    if crash := CRASHED.search(log):
        words = crash[0].strip()[:MESSAGE_CHARACTERS]
        message = f"{tool} itself failed on this file, which may be nested too deeply: {words}"
        return BuildError(verdict=Verdict.COMPILE_ERROR, message=message)
    if message := first_error(log):
        return BuildError(verdict=Verdict.COMPILE_ERROR, message=message)
    if -finished.returncode in _CRASHES:
        name = signal.Signals(-finished.returncode).name
        message = f"{tool} itself failed on this file ({name}), which may be nested too deeply"
        return BuildError(verdict=Verdict.COMPILE_ERROR, message=message)
    message = f"{tool} failed with exit status {finished.returncode}, and named no error"
    verdict = Verdict.COMPILE_ERROR if finished.truncated else Verdict.INTERNAL_ERROR
    return BuildError(verdict=verdict, message=message)


def lacks_entry(log: str) -> bool:
    """Whether linking failed for want of the entry point."""
    return any(f"undefined reference to `{entry}'" in log for entry in EntryPoint if entry.in_c)
