"""Programs for a runner to load, made from the files of a build."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from harness import cudacpu
from harness.solution.contract import IN_ORDER, Contract
from harness.solution.launches import Launches
from harness.solution.model import Artifact, Extension


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
    loads: tuple[Path, ...] = ()
    """Shared objects that the library loads."""
    extensions: tuple[Extension, ...] | None = None
    """Extensions of PyTorch that it may ask for; None where it asks torch itself."""

    @contextmanager
    def open(self) -> Iterator[list[int]]:
        """Open what is to be loaded, as descriptors: the runner never learns a path of ours.

        The last is of the kernels that were compiled before, where there are some.
        """
        files = [file for file in (self.file, self.kernels) if file is not None]
        opened = [os.open(file, os.O_RDONLY | os.O_CLOEXEC) for file in files]
        if self.file is None:
            opened.insert(0, os.memfd_create("solution", os.MFD_CLOEXEC))
            os.pwrite(opened[0], self.source, 0)
        try:
            yield opened
        finally:
            for fd in opened:
                os.close(fd)


def source_program(source: bytes) -> RunnerProgram:
    """A Python file of ours, called with the parameters in order."""
    return RunnerProgram(kind="python", source=source)


def timed_program(artifact: Artifact) -> RunnerProgram:
    """The build whose time counts.

    Raises:
        ValueError: the artifact is built for cases alone, not for timing.
    """
    if artifact.kind == "python":
        return RunnerProgram(
            kind="python",
            source=artifact.source.encode(),
            interpret=artifact.target.emulated,
            contract=artifact.contract,
            language=artifact.language,
            kernels=artifact.kernels,
            extensions=artifact.extensions,
        )
    if artifact.kind == "ptx":
        source = artifact.source.encode()
        return RunnerProgram(kind="ptx", source=source, launches=artifact.launches)
    if artifact.library is None:
        raise ValueError("built for cases alone")
    return RunnerProgram(
        kind="library",
        file=artifact.library,
        contract=artifact.contract,
        loads=artifact.loads,
    )


def checked_program(artifact: Artifact) -> RunnerProgram:
    """The build that cases are run with: with AddressSanitizer where there is one."""
    if artifact.checked is None:
        return timed_program(artifact)
    library = replace(artifact, library=artifact.checked)
    return replace(timed_program(library), sanitizer=cudacpu.asan_runtime())
