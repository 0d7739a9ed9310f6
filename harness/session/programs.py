"""What a runner is to load, made from what the build left behind."""

import os
from dataclasses import dataclass
from pathlib import Path

from harness import cudacpu
from harness.solution.contract import IN_ORDER, Contract
from harness.solution.launches import Launches
from harness.solution.model import Artifact


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerProgram:
    """What a runner is to load: a built ``file`` or Python ``source``, and how.

    ``interpret`` runs Triton through its interpreter; ``sanitizer`` is the runtime to preload for
    a library built with AddressSanitizer, ``sanitizer_options`` its settings. ``wrapper`` is a
    command that starts the runner, such as a debugging tool. ``contract`` says how it is called,
    ``launches`` how its kernels are where that is not code of its own. ``language`` is the one that
    Python ``source`` is written in, where it may need something to be ready before; ``kernels`` is
    what Triton has compiled for it already.
    """

    kind: str
    file: Path | None = None
    source: bytes = b""
    interpret: bool = False
    sanitizer: Path | None = None
    sanitizer_options: str = ""
    wrapper: tuple[str, ...] = ()
    contract: Contract = IN_ORDER
    launches: Launches | None = None
    language: str = ""
    kernels: Path | None = None

    def open(self) -> list[int]:
        """Descriptors of what to load; the runner never learns a path of ours.

        The second, if there is one, is of the kernels that were compiled before.
        """
        if self.file is not None:
            return [_opened(self.file)]
        fd = os.memfd_create("solution", os.MFD_CLOEXEC)
        os.write(fd, self.source)
        os.lseek(fd, 0, os.SEEK_SET)
        return [fd] if self.kernels is None else [fd, _opened(self.kernels)]


def _opened(file: Path) -> int:
    return os.open(file, os.O_RDONLY | os.O_CLOEXEC)


def source_program(source: bytes) -> RunnerProgram:
    """A Python file of ours, called with the parameters in order."""
    return RunnerProgram(kind="python", source=source)


def timed_program(artifact: Artifact) -> RunnerProgram:
    """The build whose time counts.

    Raises:
        ValueError: the target says that no times are taken, so there is none.
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
