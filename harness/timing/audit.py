"""The audits of timed batches: properties of the data and of physics that any honest time has.

A batch counts only if every output of every call is right, every input unchanged and every guard
band intact (:mod:`harness.judge.batch`). The device must be idle when inputs are revealed and when
the runner says *done* (:class:`IdleMonitor`); a call must take as long isolated as among many
(:func:`linearity_fault`); and nothing is faster than the device (:func:`below_sol_fault`). The
method and its measurements are in docs/explanation/measurement.md.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from harness.device.base import Device, Monitor
from harness.errors import MachineError
from harness.records.measurement import Measurement
from harness.records.result import Verdict
from harness.session.fault import Fault
from harness.session.session import Session
from harness.text.numbers import seconds

# -- the device is idle ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IdleBaseline:
    """Seconds that the judge's probes take on an idle device; infinite where that is unknown."""

    before_s: float = math.inf
    after_s: float = math.inf

    @classmethod
    def median(cls, probes: Sequence["IdleBaseline"]) -> "IdleBaseline":
        """The median of ``probes``, each of their two times by itself."""
        before, after = ([p.before_s for p in probes], [p.after_s for p in probes])
        return cls(statistics.median(before), statistics.median(after))

    def started_early_fault(self, before_s: float) -> Fault | None:
        """The fault of a device at work when the inputs of a batch were there; None if it was idle.

        The work may have begun with them before the clock did, or take the device from the program
        that is timed next. A few such batches are no :meth:`IdleMonitor.fault`, yet the lower
        quartile would be theirs: they must not count.
        """
        excess_s = before_s - self.before_s
        return _started_early_fault(excess_s) if excess_s > BUSY_S else None


_PROBES = 9

BUSY_S = 0.5e-3
"""Seconds: a probe that is so late in most batches has waited for other work.

Processes take turns on a GPU in slices of about two milliseconds; the probe itself takes a tenth of
one, and is late by more now and then because the host is."""
BEFORE_SLACK_S, AFTER_SLACK_S = 15e-6, 50e-6
"""Seconds that a probe may be late before the difference counts as time of the batch."""
MAX_LATER_S = 0.2e-3
"""Seconds that a probe after a null batch may take longer and still be taken for an idle device's.

After one of 25 ms it takes 0.1 ms longer on an H100, whose host's caches are cold by then."""


@dataclass(slots=True)
class IdleMonitor:
    """How late the probes of one program's batches were, in order, in seconds."""

    idle: IdleBaseline
    before: list[float] = field(default_factory=list)
    after: list[float] = field(default_factory=list)

    def note(
        self, before_s: float, after_s: float, *, awake: bool = False, idle_after_s: float = 0.0
    ) -> float:
        """Seconds of work that the clock did not see, by the two probes of a batch; records them.

        Such work went on after *done* or, where the runner was ``awake`` while the inputs were
        written, had begun before *go*. ``idle_after_s`` is what the second probe took just now
        after a null batch that lasts as long: a host that was idle for so long is late itself.
        """
        normal_after_s = min(max(idle_after_s, self.idle.after_s), self.idle.after_s + MAX_LATER_S)
        before = max(0.0, before_s - self.idle.before_s)
        after = max(0.0, after_s - normal_after_s)
        self.before.append(before)
        self.after.append(after)
        unseen = after if after > AFTER_SLACK_S else 0.0
        return unseen + (before if awake and before > BEFORE_SLACK_S else 0.0)

    def fault(self) -> Fault | None:
        """The fault of a device found at work around most batches; None below three batches."""
        if len(self.before) < 3:
            return None
        early, late = statistics.median(self.before), statistics.median(self.after)
        if early > BUSY_S:
            return _started_early_fault(early)
        if late > BUSY_S:
            what = "the GPU was still at work after the submission said that it was done"
            return _busy_fault(what, late, "wait for all streams")
        return None


def _started_early_fault(excess_s: float) -> Fault:
    what = "the GPU was at work before the inputs of a timed batch were there"
    return _busy_fault(what, excess_s, "no kernel may go on between calls")


def _busy_fault(what: str, excess_s: float, remedy: str) -> Fault:
    probe = f"a probe of the judge took {seconds(excess_s)} longer than on an idle device"
    return Fault(Verdict.REJECTED, f"{what} ({probe}): {remedy}", shared=True)


def busy_device_fault(probe: Callable[[], float], idle: IdleBaseline) -> Fault | None:
    """The fault of a device that is at work now, though no batch runs; None if it is idle."""
    # The median: on some hosts one probe in twenty is late although nothing is at work.
    return idle.started_early_fault(statistics.median(probe() for _ in range(_PROBES)))


def find_busy_session(
    sessions: Sequence[Session], device: Device, idle: IdleBaseline, monitor: Monitor | None
) -> int:
    """The number of the first session without which ``device`` is idle; ends them up to that one.

    Raises:
        MachineError: it is at work without all of them, so none of them was the cause; or the
            ``monitor`` has seen another program on it, which may have been.
    """
    for which, session in enumerate(sessions):
        session.close()
        if busy_device_fault(device.probe, idle) is None:
            seen = monitor.conditions() if monitor else None
            if seen is None or not seen.other_processes:
                return which
            break
    raise MachineError(
        f"another program is at work on {device.name}: no time can be taken beside it. Grade again "
        "when it has ended (nvidia-smi lists who uses the card)"
    )


# -- linear in calls -------------------------------------------------------------------------------

EXCESS = 1.05
"""Times as long as among many a call may take isolated: more than any honest one was seen to."""
FIRST_S, NODE_S = 2e-6, 1e-6
"""Seconds that an isolated call may take longer than the baseline's, and each of its kernels: code
and addresses come from memory, for the caches have just been flushed, and a short graph hides no
launches."""
BASELINE_FIRST_S = 14e-6
"""Seconds that baselines' isolated calls took longer for the same reasons: 10 to 14 µs on an H200.
Isolated calls of submissions read too short by as much, which does no harm where they may only be
too long."""
DOUBT_S = 40e-6
"""Twice the seconds that the overheads of two processes' isolated calls were seen apart where
nothing overlaps (20 µs and less, of five of 23 kernels on an H100 whose host is restless): within
this it stays open whether the host or overlapping calls are the cause."""
KERNELS = 8.0
"""Kernels that a call is allowed to have, or twice as many as the baseline's: how many it really
has is the word of the process that runs the submission."""
SURE_LOOKS = 8
"""Looks (:mod:`harness.timing.overlap`) that settle a doubt: of calls that overlap for a third of
their time, one in 25 would go unseen."""


ONE_BY_ONE = "calls must run one after the other, as if each waited for the one before"
"""The rule that overlapping calls break, as submitters are told it."""


def linearity_fault(measured: Measurement) -> Fault | None:
    """The fault of a graph whose calls take longer isolated than among many; None if they do not.

    Work of different calls that is merged, or runs side by side, costs less per call the more
    there are of them.
    """
    if _excess(measured) <= DOUBT_S:
        return None
    return Fault(Verdict.REJECTED, f"{_apart(measured)}: {ONE_BY_ONE}", shared=True)


def linearity_doubt(measured: Measurement) -> str:
    """Why it is open whether the calls of a graph ran one after the other; empty if it is not.

    It is not where many looks at calls at work have seen none that read its inputs early.
    """
    if not measured.captured or measured.isolated_s is None or _excess(measured) <= 0:
        return ""
    if looked_at(measured):
        return ""
    return f"{_apart(measured)}: on this machine it cannot be told whether calls overlap"


MOST_CACHED = 0.05
"""Part of a call's inputs that may be in the cache before its turn: honest ones were seen to have
0.01 and less, a kernel that fetches ahead 0.6."""


def cached_reason(measured: Measurement) -> str:
    """Why a time is not that of a call by itself: its inputs were in the cache; empty if not."""
    cached = measured.cached_ahead
    if cached is None or cached <= MOST_CACHED:
        return ""
    return (
        f"{measured.spec}: while a call is at work, {cached:.0%} of the next one's inputs are in "
        "the cache, as if they were fetched ahead: each call must fetch its own"
    )


def looked_at(measured: Measurement) -> bool:
    """Whether looks have settled that the calls ran one after the other."""
    return (measured.overlap_looks or 0) >= SURE_LOOKS


def longest_isolated_s(measured: Measurement) -> float:
    """Seconds that a call may take isolated."""
    kernels = max(KERNELS, 2 * (measured.baseline_kernels or 0.0))
    return FIRST_S + NODE_S * kernels + EXCESS * measured.time_s.value


def _excess(measured: Measurement) -> float:
    """Seconds that a call surely takes longer isolated, beyond what is allowed."""
    assert measured.isolated_s is not None
    return measured.isolated_s.low - longest_isolated_s(measured)


def _apart(measured: Measurement) -> str:
    assert measured.isolated_s is not None
    isolated, among = seconds(measured.isolated_s.value), seconds(measured.time_s.value)
    return f"a call takes {isolated} isolated, but {among} among many in a batch"


# -- speed of light --------------------------------------------------------------------------------

SOL_SLACK = 0.8
"""Part of the speed-of-light time below which no honest time lies: the roofline is a measured one,
and a part of what is written last stays in the cache."""


def below_sol_fault(time_s: float, sol_time_s: float, spec: str) -> Fault | None:
    """The fault of a call that took less time than its bytes and operations need on the device."""
    if time_s >= SOL_SLACK * sol_time_s:
        return None
    return Fault(
        Verdict.REJECTED,
        f"{spec}: a call takes {seconds(time_s)}, and this device cannot do what the problem asks "
        f"for in less than {seconds(sol_time_s)}: not all of it was done in that time",
    )
