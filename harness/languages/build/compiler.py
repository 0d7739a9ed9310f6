"""Running one compiler on a submission within limits, and the verdict where it fails."""

import signal
from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.languages.build.cache import BuildError, BuildOutcome
from harness.languages.build.diagnostics import (
    LOG_BYTES,
    first_error,
    names_a_place,
    tells_of_a_kill,
)
from harness.records.result import Verdict
from harness.sandbox.command import CommandResult, clean_environment, run_limited
from harness.sandbox.support import parts
from harness.solution.contract import EntryPoint

MEMORY_BYTES = 8 << 30
"""Memory of one compiler, its children included."""


def run_compiler(
    command: Sequence[str],
    folder: Path,
    seconds: float,
    tools: Sequence[Path],
    readable: Iterable[Path] = (),
) -> CommandResult:
    """Run ``command`` in ``folder``; it sees the parts of ``tools``, its own among them."""
    return run_limited(
        command,
        cwd=folder,
        seconds=seconds,
        memory_bytes=MEMORY_BYTES,
        output_bytes=4 * LOG_BYTES,
        environment=clean_environment(folder, [tool.parent for tool in tools]),
        readable=[*readable, *(part for tool in tools for part in parts(tool))],
    )


def limit_failure(tool: str, finished: CommandResult, seconds: float) -> BuildError | None:
    """The verdict on a compiler that was stopped, by us or by others; None if it was not."""
    if finished.timed_out:
        return BuildError(
            verdict=Verdict.TIME_LIMIT,
            message=f"compiling took longer than {seconds:g} s ({tool} was stopped)",
        )
    if finished.over_memory:
        return BuildError(
            verdict=Verdict.MEMORY_LIMIT,
            message=f"compiling took more than {MEMORY_BYTES >> 30} GiB ({tool} was stopped)",
        )
    if not finished.ok and (
        finished.returncode == -signal.SIGKILL or tells_of_a_kill(finished.output)
    ):
        return killed_failure(tool)
    return None


def killed_failure(tool: str) -> BuildError:
    """The verdict where somebody else has ended a tool: none on the submission."""
    return BuildError(
        verdict=Verdict.INTERNAL_ERROR,
        message=f"{tool} was killed, and not by a limit of the judge's: is the machine out of "
        "memory? Grade again",
    )


def silent_failure(tool: str, finished: CommandResult) -> BuildError:
    """The verdict where a tool failed and named no error: not the submission's, but for a flood.

    nvcc is silent when a host compiler that it has started is killed.
    """
    message = f"{tool} failed with exit status {finished.returncode}, and named no error"
    verdict = Verdict.COMPILE_ERROR if finished.truncated else Verdict.INTERNAL_ERROR
    return BuildError(verdict=verdict, message=message)


def compile_failure(tool: str, finished: CommandResult, log: str) -> BuildError:
    """The verdict on a submission that a compiler rejects, with its complaints in ``log``."""
    if lacks_entry(log):
        return BuildError(
            verdict=Verdict.INVALID_SUBMISSION,
            message="the file defines no solution() with the problem's parameters",
        )
    if message := first_error(log):
        return BuildError(verdict=Verdict.COMPILE_ERROR, message=message)
    return silent_failure(tool, finished)


def failed(failure: BuildError, log: str, seconds: float) -> BuildOutcome:
    """The outcome of a failed compilation, to be kept if the failure is surely the source's."""
    keep = names_a_place(failure.message) or lacks_entry(log)
    return BuildOutcome(failure=failure, log=log, seconds=seconds, keep=keep)


def lacks_entry(log: str) -> bool:
    """Whether linking failed for want of the entry point."""
    return any(f"undefined reference to `{entry}'" in log for entry in EntryPoint if entry.in_c)
