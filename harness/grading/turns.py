"""Turns that a grade waits for: the card to itself, and building beside others' times."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from harness.device.base import Device, Exclusive
from harness.formats.processes import PROBLEMS
from harness.progress.progress import Progress
from harness.sandbox import leftovers


@contextmanager
def exclusive(device: Device, progress: Progress) -> Iterator[Exclusive]:
    """Nobody else uses the card: no other judge to take times, no reference of a format's.

    Nor any submission of this judge's that was ended.
    """
    leftovers.settle()
    held = device.exclusive(lambda seconds: progress.phase(f"wait for the GPU, {seconds:.0f} s"))
    with PROBLEMS.undisturbed(), held as card:
        yield card


def shared(device: Device, progress: Progress) -> AbstractContextManager[object]:
    """Nobody takes times on the card; other judges may check there, too."""
    return device.shared(lambda seconds: progress.phase(f"wait for the GPU, {seconds:.0f} s"))


@contextmanager
def shared_meanwhile(device: Device, progress: Progress) -> Iterator[None]:
    """As :func:`shared`, within a phase that goes on: a note at it says that it waits."""
    waited = False

    def tell(seconds: float) -> None:
        nonlocal waited
        waited = True
        progress.advance(0, f"waits for the GPU, {seconds:.0f} s")

    with device.shared(tell):
        if waited:
            progress.advance(0)
        yield


def turn_to_build(device: Device, progress: Progress) -> AbstractContextManager[None]:
    """A build outside of :class:`~harness.grading.builds.Builds`, which keeps to its turns.

    Where builds and times take turns on this host, it waits for its own.
    """
    place = device.workplace
    if place is None or place.quiet is None:
        return nullcontext()
    return place.quiet.building(lambda seconds: progress.phase(f"wait to build, {seconds:.0f} s"))
