"""Records of what ``harness verify`` finds. May hold text of the package: not safe to print."""

from dataclasses import dataclass, field
from enum import StrEnum

from harness.errors import ProblemError


class Level(StrEnum):
    """Whether a finding makes the package unfit, or only weak."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class PackageFinding:
    """One thing that is wrong, where, and what to do about it."""

    level: Level
    place: str
    message: str
    remedy: str = ""


class Status(StrEnum):
    """Outcome for an impostor or an honest variant in one data type."""

    REJECTED = "rejected"
    ACCEPTED = "accepted"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionResult:
    """One impostor or honest variant in one data type, over all grades."""

    name: str
    """What it does: ``writes zeros``, ``pairwise sums``."""
    dtype: str
    """Data type of the grades."""
    status: Status
    """An impostor should be rejected, a variant accepted."""
    cases: int = 0
    """Cases it was tried in."""
    applicable: int = 0
    """Of these, cases where its answer is not the right one to the last bit."""
    refused: int = 0
    """Of these, cases where it was found wrong."""
    why: str = ""
    """Why it is not applicable, in words; else empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleRun:
    """One file of the package, the verdicts (in small letters) that it may get, and its own."""

    path: str
    dtype: str
    wanted: tuple[str, ...]
    got: str


@dataclass(slots=True, kw_only=True)
class PackageReport:
    """All about one problem. Filled while it is looked at."""

    slug: str
    """The problem's; its folder's name while that is not known."""
    device: str = ""
    """``cuda`` or ``cpu``."""
    seed: str = ""
    """Seed of the first grade; further ones append their number."""
    grades: int = 0
    """Grades that impostors and variants were tried in, for each data type."""
    dtypes: tuple[str, ...] = ()
    """Data types tried."""
    findings: list[PackageFinding] = field(default_factory=list)
    """Errors and warnings, in the order found."""
    impostors: list[DetectionResult] = field(default_factory=list)
    """One entry for each impostor and data type."""
    variants: list[DetectionResult] = field(default_factory=list)
    """One entry for each honest variant and data type."""
    examples: list[ExampleRun] = field(default_factory=list)
    """One entry for each file graded and data type."""
    seconds: float = 0.0
    """Wall time of all that."""

    def error(self, place: str, message: str, remedy: str = "") -> None:
        """Add an error."""
        self.findings.append(PackageFinding(Level.ERROR, place, message, remedy))

    def warn(self, place: str, message: str, remedy: str = "") -> None:
        """Add a warning."""
        self.findings.append(PackageFinding(Level.WARNING, place, message, remedy))

    def add_diagnostics(self, error: ProblemError, dtype: str = "") -> None:
        """Add what is wrong with the package's own files, found in one data type or in all."""
        where = f" ({dtype})" if dtype else ""
        for diagnostic in error.diagnostics:
            key = f"{diagnostic.key}: " if diagnostic.key else ""
            place = f"{diagnostic.path}:{diagnostic.line}"
            self.error(place, f"{key}{diagnostic.message}{where}")

    @property
    def errors(self) -> int:
        """Count of errors."""
        return sum(f.level is Level.ERROR for f in self.findings)

    @property
    def warnings(self) -> int:
        """Count of warnings."""
        return len(self.findings) - self.errors
