"""A submission as data: as read by :mod:`harness.languages.read`, and as built by its language."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from harness.records.build import Build
from harness.records.refs import Generation, SolutionRef
from harness.records.result import Reason, Verdict
from harness.solution.architectures import ARCHITECTURE
from harness.solution.contract import IN_ORDER, Contract
from harness.solution.launches import Launches
from harness.solution.wanted import Wanted
from harness.wire.extensions import ExtensionRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """One submitted file; the code of a ``generation`` has each line at its place in the file."""

    path: Path
    """The path that it was read from."""
    display_path: str
    """The path as the user gave it, free of control characters."""
    submitted: bytes
    """The file, byte for byte."""
    source: bytes
    """The code."""
    text: str
    """The code without a byte order mark."""
    author: str
    """Given, or from the path."""
    name: str
    """The file's name without its suffix."""
    problem: str | None
    """The slug, given, from the path or the generation's header; None if nothing names one."""
    language: str
    """A key of :data:`harness.languages.LANGUAGES`."""
    hash: str
    """SHA-256 of ``submitted``, in hex."""
    dtypes: tuple[str, ...] | None
    """The data types that the file says it is written for; None for all."""
    uses: tuple[str, ...] = ()
    """The CUDA libraries that the file says it uses."""
    generation: Generation | None = None
    """The model's output that the code was taken from."""
    wanted: Wanted = field(default_factory=Wanted)
    """The problem that the file's name or the record says it is for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The device to build for, with the card's architecture.

    On a CPU: one to compile for as well, or None, and whether a library for speed is ``timed``.
    ``ahead`` compiles what the card would compile at the first call: for many files side by side.
    """

    kind: Literal["cuda", "cpu"]
    arch: str | None = "sm_90"
    timed: bool = True
    ahead: bool = False

    def __post_init__(self) -> None:
        if self.arch is None and not self.emulated:
            raise ValueError("a card has an architecture")
        if self.arch is not None and not ARCHITECTURE.fullmatch(self.arch):
            raise ValueError(f"not a GPU architecture: {self.arch!r} (such as sm_90)")

    @property
    def emulated(self) -> bool:
        """Whether the build is executed by an emulator on the host."""
        return self.kind == "cpu"

    @property
    def code(self) -> str:
        """The architecture code is made for; empty for none.

        From Hopper on the architecture-specific variant (``sm_90a``), which runs there alone:
        without it wgmma, TMA multicast and setmaxnreg do not compile.
        """
        number = (self.arch or "").removeprefix("sm_")
        specific = number.isdigit() and int(number) >= 90
        return (self.arch or "") + ("a" if specific else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """What became of an extension of PyTorch that a Python submission asks for."""

    request: ExtensionRequest
    """What is asked for."""
    library: Path | None = None
    """What was built; None if that failed."""
    error: str = ""
    """Why it failed, as PyTorch would say it."""
    refused: bool = False
    """Whether that is for what was asked, not for a complaint of a compiler."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A built submission: all that a runner needs."""

    kind: Literal["library", "ptx", "python"]
    """Whether it is a shared library, or ``source``."""
    target: Target
    """The device that it was built for."""
    library: Path | None = None
    """A shared object with the entry point and ``harness_last_error``, unless there is none."""
    checked: Path | None = None
    """The same with AddressSanitizer; None for a card, or where the compiler has no libasan."""
    source: str
    """The code."""
    build: Build
    """The record of the build."""
    contract: Contract = IN_ORDER
    """How the entry point is called."""
    launches: Launches | None = None
    """How the kernels of PTX are launched."""
    language: str = ""
    """The language of Python code."""
    kernels: Path | None = None
    """A package of what Triton has compiled (:mod:`harness.runner.triton.kernel_cache`)."""
    loads: tuple[Path, ...] = ()
    """The shared objects of CUDA libraries that ``library`` loads."""
    extensions: tuple[Extension, ...] | None = None
    """The extensions of PyTorch that it asks for; None for a file that does not mention them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildFailure:
    """A submission that does not build: a verdict with its reason, and the attempt if any."""

    verdict: Verdict
    message: str
    build: Build | None = None

    @property
    def log(self) -> str:
        """The compiler's output: untrusted, capped."""
        return self.build.log if self.build else ""


@dataclass(frozen=True, slots=True)
class Invalid:
    """A file that cannot be taken as a submission.

    ``message`` says what to change. Of a generation without code also the reason, whose it is, the
    problem that it is for and the file, byte for byte, are known.
    """

    message: str
    reason: Reason | None = None
    reference: SolutionRef | None = None
    problem: str | None = None
    submitted: bytes | None = None
    wanted: Wanted = field(default_factory=Wanted)

    @property
    def generation(self) -> Generation | None:
        """The record of the generation that it is; None for other files."""
        return self.reference.generation if self.reference else None
