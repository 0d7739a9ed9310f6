"""What ``harness verify`` finds, as records."""

from dataclasses import dataclass, field
from enum import StrEnum


class Level(StrEnum):
    """How bad it is."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageFinding:
    """One thing that is wrong, where, and what to do about it. May hold untrusted text."""

    level: Level
    place: str
    message: str
    remedy: str = ""


class Status(StrEnum):
    """What became of an impostor or an honest variant in one data type."""

    REJECTED = "rejected"
    ACCEPTED = "accepted"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One impostor or variant in one data type, over all grades.

    Of ``cases`` tried, ``applicable`` had an answer that is not the right one to the last bit;
    of those ``refused`` were found wrong. ``why`` says why one is not applicable.
    """

    name: str
    dtype: str
    fate: Status
    cases: int = 0
    applicable: int = 0
    refused: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleRun:
    """One file of the package, and the verdict that it got."""

    path: str
    dtype: str
    wanted: tuple[str, ...]
    got: str


@dataclass(slots=True, kw_only=True)
class PackageReport:
    """All about one problem. Filled while it is looked at."""

    slug: str
    device: str = ""
    seed: str = ""
    grades: int = 0
    dtypes: tuple[str, ...] = ()
    findings: list[PackageFinding] = field(default_factory=list)
    impostors: list[Tried] = field(default_factory=list)
    variants: list[Tried] = field(default_factory=list)
    examples: list[ExampleRun] = field(default_factory=list)
    seconds: float = 0.0

    def error(self, place: str, message: str, remedy: str = "") -> None:
        """Add an error."""
        self.findings.append(
            PackageFinding(level=Level.ERROR, place=place, message=message, remedy=remedy)
        )

    def warn(self, place: str, message: str, remedy: str = "") -> None:
        """Add a warning."""
        self.findings.append(
            PackageFinding(level=Level.WARNING, place=place, message=message, remedy=remedy)
        )

    @property
    def errors(self) -> int:
        """How many."""
        return sum(f.level is Level.ERROR for f in self.findings)

    @property
    def warnings(self) -> int:
        """How many."""
        return len(self.findings) - self.errors
