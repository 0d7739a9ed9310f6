"""A submission that was right in all cases, and waits to be timed."""

from collections.abc import Callable
from dataclasses import dataclass

from harness.grading.result_builder import ResultBuilder
from harness.session.fault import Fault
from harness.session.session import Session


@dataclass(frozen=True, slots=True)
class ReadyToTime:
    """``session`` has the program loaded that is timed; ``restart`` makes another one like it."""

    draft: ResultBuilder
    session: Session
    restart: Callable[[], Session | Fault]
