"""Programs for a runner to load, made from the files of a build."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness import cudacpu
from harness.solution.contract import IN_ORDER, Contract
from harness.solution.launches import Launches
from harness.solution.model import Artifact


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerProgram:
    """A program for a runner to load: a built file or a source, and how to run it."""

    kind: Literal["library", "ptx", "python"]
    """The kind of artifact."""

    file: Path | None = None
    """The built library."""

    source: bytes = b""
    """The text of a Python or PTX program."""

    interpret: bool = False
    """Whether Triton runs in its interpreter."""

    sanitizer: Path | None = None
    """The runtime to preload for a library that was built with AddressSanitizer."""

    sanitizer_options: str = ""
    """Settings of that runtime."""

    wrapper: tuple[str, ...] = ()
    """A command that starts the runner, such as a debugging tool."""

    contract: Contract = IN_ORDER
    """The entry point and its parameters."""

    launches: Launches | None = None
    """The launches of its kernels, where the program has no code for that."""

    language: str = ""
    """The framework that Python source is written in; empty for none."""

    kernels: Path | None = None
    """The package of kernels that Triton has compiled for it already."""

    def open(self) -> list[int]:
        """Descriptors of what to load; the runner never learns a path of ours.

        The second, if there is one, is of the kernels that were compiled before.
        """
        if self.file is not None:
            return [_open(self.file)]
        fd = os.memfd_create("solution", os.MFD_CLOEXEC)
        os.write(fd, self.source)
        os.lseek(fd, 0, os.SEEK_SET)
        return [fd] if self.kernels is None else [fd, _open(self.kernels)]


def _open(file: Path) -> int:
    return os.open(file, os.O_RDONLY | os.O_CLOEXEC)


def source_program(source: bytes) -> RunnerProgram:
    """A Python file of ours, called with the parameters in order."""
    return RunnerProgram(kind="python", source=source)


def timed_program(artifact: Artifact) -> RunnerProgram:
    """The build whose time counts.

    Raises:
        ValueError: the target is built for cases alone, not for timing.
    """
    if artifact.kind == "python":
        return RunnerProgram(
            kind="python",
            source=artifact.source.encode(),
            interpret=artifact.target.emulated,
            contract=artifact.contract,
            language=artifact.language,
            kernels=artifact.kernels,
        )
    if artifact.kind == "ptx":
        source = artifact.source.encode()
        return RunnerProgram(kind="ptx", source=source, launches=artifact.launches)
    if artifact.library is None:
        raise ValueError("built for cases alone")
    return RunnerProgram(kind="library", file=artifact.library, contract=artifact.contract)


def checked_program(artifact: Artifact) -> RunnerProgram:
    """The build that cases are run with: with AddressSanitizer where there is one."""
    if artifact.checked is None:
        return timed_program(artifact)
    return RunnerProgram(
        kind="library",
        file=artifact.checked,
        sanitizer=cudacpu.asan_runtime(),
        sanitizer_options=cudacpu.ASAN_OPTIONS,
        contract=artifact.contract,
    )
