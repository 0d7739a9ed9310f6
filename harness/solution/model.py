"""A submission as data: as read from its file, and as built. Nothing here reads or runs anything.

Reading is :mod:`harness.languages.read`, building :mod:`harness.languages`.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.records.build import Build
from harness.records.refs import Generation, SolutionRef
from harness.records.result import Reason, Verdict
from harness.solution.contract import IN_ORDER, Contract
from harness.solution.launches import Launches

ARCHITECTURE = re.compile(r"sm_\d{2,3}[af]?")

KNOWN_ARCHITECTURES = tuple(
    f"sm_{capability}"
    for capability in (70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121)
)
"""Those of GPUs that were made, as NVIDIA's tables of compute capabilities have them; a card that
is here may have a newer one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """One submitted file.

    ``display_path`` is the path as the user gave it, free of control characters. ``submitted`` is
    the file's bytes and ``hash`` their SHA-256 (hex). ``source`` is the same, and ``text`` that
    without a byte order mark.
    ``dtypes`` are the types that the file itself says it is written for, ``None`` if it says
    nothing (then it is taken for all). ``problem`` is ``None`` if neither the user nor the path
    names one.

    Of a file that holds a model's ``generation``, ``source`` and ``text`` are the code taken from
    it, each line in the place that it has in the file, and ``problem`` is what its header says
    where nobody else says anything.
    """

    path: Path
    display_path: str
    submitted: bytes
    source: bytes
    text: str
    author: str
    name: str
    problem: str | None
    language: str
    hash: str
    dtypes: tuple[str, ...] | None
    generation: Generation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What to build for.

    ``arch`` is the card's, such as ``sm_90``; with ``kind`` ``cpu`` it is the one that the
    submission is compiled for beside being made executable on the host, ``None`` for none.
    Without ``timed`` a CPU target gets no library made for speed, unless it is the only one. With
    ``ahead`` what would be compiled on the card, when it is called, is compiled before: of many
    files side by side.
    """

    kind: Literal["cuda", "cpu"]
    arch: str | None = "sm_90"
    timed: bool = True
    ahead: bool = False

    def __post_init__(self) -> None:
        if self.arch is None:
            if not self.emulated:
                raise ValueError("a card has an architecture")
        elif not ARCHITECTURE.fullmatch(self.arch):
            raise ValueError(f"not a GPU architecture: {self.arch!r} (such as sm_90)")

    @property
    def emulated(self) -> bool:
        """What is built is executed by an emulator on the host."""
        return self.kind == "cpu"

    @property
    def code(self) -> str:
        """The architecture code is made for; empty for none.

        From Hopper on this is the architecture-specific variant (``sm_90a``): without it wgmma,
        TMA multicast and setmaxnreg do not compile. Such code runs on that architecture alone,
        which is all that is asked of it here.
        """
        if self.arch is None:
            return ""
        number = self.arch.removeprefix("sm_")
        return self.arch + "a" if number.isdigit() and int(number) >= 90 else self.arch


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """What a runner needs.

    A ``library`` is a shared object that exports its entry point and ``harness_last_error`` (see
    :mod:`harness.languages.build.prelude`), on a CPU target accompanied by ``checked``, the same with
    AddressSanitizer (``None`` where the host compiler has no libasan), or, where no times are to be
    taken, replaced by it. A ``python`` or ``ptx`` artifact is its ``source``. The ``contract`` says
    how it is called, ``launches`` how the kernels of a ``ptx`` one are; ``language`` is the name of
    the one that a ``python`` one is written in, ``kernels`` a package of what Triton has compiled
    for it (:mod:`harness.runner.triton.kernel_cache`).
    """

    kind: Literal["library", "ptx", "python"]
    target: Target
    library: Path | None
    checked: Path | None
    source: str
    build: Build
    contract: Contract = IN_ORDER
    launches: Launches | None = None
    language: str = ""
    kernels: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildFailure:
    """The submission does not build: a verdict with its reason.

    ``build`` is what is known of the attempt, its log with it; ``None`` if there was none.
    """

    verdict: Verdict
    message: str
    build: Build | None = None

    @property
    def log(self) -> str:
        """What the compiler said: untrusted, capped."""
        return self.build.log if self.build else ""


@dataclass(frozen=True, slots=True)
class Invalid:
    """The file cannot be taken as a submission; the message says what to change.

    Of a generation without code it is known all the same whose it is, for which ``problem``, and
    what was ``submitted``: the file's bytes.
    """

    message: str
    reason: Reason | None = None
    reference: SolutionRef | None = None
    problem: str | None = None
    submitted: bytes | None = None
