"""What a command and its judges' processes say to each other: pickled, for both are trusted.

No submission runs in either process; what a runner says was checked by its judge. Keep imports
cheap: the other side of a judge that starts is read here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from harness.device.cpu_plan import CpuPlan
from harness.errors import MachineError, ProblemError
from harness.grading.job import Work
from harness.records.refs import DeviceRef

if TYPE_CHECKING:
    from harness.device.base import Device
    from harness.progress.progress import Progress


class Errand(Protocol):
    """What is no grade, and is done on a device as a whole."""

    def run(self, device: Device, progress: Progress) -> object:
        """What came of it.

        Raises:
            ProblemError, MachineError, HarnessError: nothing did.
        """


class TravellingErrand(Protocol):
    """An errand with all that it needs, for a judge on another machine, which is not believed."""

    def run(self, device: Device, progress: Progress) -> str:
        """What came of it, as text; raises as :meth:`Errand.run`."""

    def read(self, said: str) -> object:
        """What came of it, of a text that says so.

        Raises:
            ValueError: the text is none of its own.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a judge is told first."""

    device: str
    """``cuda`` for the one card that it sees, or ``cpu``."""
    plan: CpuPlan | None
    """The host's processors; None for any."""
    judges: int
    """How many there are on the host."""
    shown: bool
    """Whether anybody sees what it is at."""


class Order(NamedTuple):
    """One job, with its number."""

    number: int
    task: Work | Errand


class BuildAhead(NamedTuple):
    """A job that no judge has yet, to be built by this one."""

    number: int
    task: Work


class Ready(NamedTuple):
    """The device is open."""

    device: DeviceRef


class Begun(NamedTuple):
    """The judge is at this job now: not always at the first that it was given."""

    number: int


class Done(NamedTuple):
    """What came of a job: of work its result."""

    number: int
    value: object


class Unjudged(NamedTuple):
    """A job ended without an outcome."""

    number: int
    error: ProblemError | MachineError
    of_problem: bool
    """For all files of its problem alike: the judge is well."""


class Broken(NamedTuple):
    """The judge cannot go on, or not begin, for a reason that is no job's."""

    error: MachineError
    final: bool
    """It would be the same on every card."""


class Phase(NamedTuple):
    """A phase of the judge's present job began."""

    name: str
    total: int | None


class Steps(NamedTuple):
    """Steps of that phase are done."""

    steps: int
    note: str
