"""What a runner is to load, made from what the build left behind."""

from harness import cudacpu
from harness.judge.session import Program
from harness.solution.model import Artifact


def source_program(source: bytes) -> Program:
    """A Python file of ours, called with the parameters in order."""
    return Program(kind="python", source=source)


def timed_program(artifact: Artifact) -> Program:
    """The build whose time counts.

    Raises:
        ValueError: the target says that no times are taken, so there is none.
    """
    if artifact.kind == "python":
        return Program(
            kind="python",
            source=artifact.source.encode(),
            interpret=artifact.target.kind == "cpu",
            contract=artifact.contract,
            language=artifact.language,
            kernels=artifact.kernels,
        )
    if artifact.kind == "ptx":
        source = artifact.source.encode()
        return Program(kind="ptx", source=source, launches=artifact.launches)
    if artifact.library is None:
        raise ValueError("built for cases alone")
    return Program(kind="library", file=artifact.library, contract=artifact.contract)


def checked_program(artifact: Artifact) -> Program:
    """The build that cases are run with: with AddressSanitizer where there is one."""
    if artifact.checked is None:
        return timed_program(artifact)
    return Program(
        kind="library",
        file=artifact.checked,
        sanitizer=cudacpu.asan_runtime(),
        sanitizer_options=cudacpu.ASAN_OPTIONS,
        contract=artifact.contract,
    )
