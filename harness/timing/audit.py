"""What must hold of timed batches, as properties of the data and of physics.

A batch counts only if every output of every call is right, every input unchanged and every guard
band intact (:func:`audit_batch`). The device must be idle when inputs are revealed and when the
runner says *done* (:class:`IdleMonitor`); a call must take as long alone as among many
(:func:`linearity_fault`); and nothing is faster than the device (:func:`below_sol_fault`). What these
mean and what was measured is in docs/measurement.md.
"""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from harness.device.memory import Device
from harness.errors import MachineError
from harness.judge.batch import Batch, BatchMismatch
from harness.records.measurement import Measurement
from harness.records.result import Verdict
from harness.session.fault import Fault
from harness.session.session import Session
from harness.text.numbers import seconds


def audit_batch(batch: Batch) -> BatchMismatch | None:
    """The first thing that is wrong with a batch that was just timed, or None."""
    return batch.check()


# -- the device is idle ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IdleBaseline:
    """How long the judge's probes take on an idle device, seconds; unknown without a device."""

    before_s: float = float("inf")
    after_s: float = float("inf")

    @classmethod
    def median(cls, probes: Sequence["IdleBaseline"]) -> "IdleBaseline":
        """What most of ``probes`` took."""
        return cls(
            statistics.median(probe.before_s for probe in probes),
            statistics.median(probe.after_s for probe in probes),
        )

    def started_early_fault(self, before_s: float) -> Fault | None:
        """What follows where probes such as this one do not end; None if the device was idle.

        Something was at work when the inputs of a batch were there: it may have begun with them
        before the clock did, or takes the device from whoever is timed beside it. Where that is so
        in a few batches only, :meth:`IdleMonitor.fault` says nothing, and a time that is the lower
        quartile would be theirs: they must not count.
        """
        excess_s = before_s - self.before_s
        return _started_early_fault(excess_s) if excess_s > BUSY_S else None


_PROBES = 9

BUSY_S = 0.5e-3
"""A probe that takes so much longer than usual in most batches has waited for other work.

Processes take turns on a GPU in slices of about two milliseconds; the probe itself takes a tenth of
one, and is late by more now and then because the host is."""

BEFORE_SLACK_S, AFTER_SLACK_S = 15e-6, 50e-6
"""What a probe may take longer than usual before the difference counts as time of the batch."""

MAX_LATER_S = 0.2e-3
"""How much longer than usual a probe after a batch of ours may take to be believed usual there.

After one of 25 ms it takes 0.1 ms longer on an H100, whose host has lost what it had at hand."""


@dataclass(slots=True)
class IdleMonitor:
    """The probes of one contender's batches, in order; excesses over the usual, seconds."""

    usual: IdleBaseline
    before: list[float] = field(default_factory=list)
    after: list[float] = field(default_factory=list)

    def note(
        self, before_s: float, after_s: float, *, awake: bool = False, idle_after_s: float = 0.0
    ) -> float:
        """Take the probes of a batch; seconds of work beyond what the clock saw.

        That is what went on after *done*, and, where the runner was ``awake`` while the inputs were
        written, what had begun before *go*. ``idle_after_s`` is what the second probe took just
        now, after a batch of ours that lasts as long.
        """
        usual_after_s = min(max(idle_after_s, self.usual.after_s), self.usual.after_s + MAX_LATER_S)
        before = max(0.0, before_s - self.usual.before_s)
        after = max(0.0, after_s - usual_after_s)
        self.before.append(before)
        self.after.append(after)
        unseen = after if after > AFTER_SLACK_S else 0.0
        return unseen + (before if awake and before > BEFORE_SLACK_S else 0.0)

    def fault(self) -> Fault | None:
        """Whether most batches found the device at work, once there are three of them."""
        if len(self.before) < 3:
            return None
        early, late = statistics.median(self.before), statistics.median(self.after)
        if early > BUSY_S:
            return _started_early_fault(early)
        if late > BUSY_S:
            return Fault(
                Verdict.REJECTED,
                "the GPU was still at work after the submission said that it was done (a probe of "
                f"the judge took {seconds(late)} longer than usual): wait for all streams",
                shared=True,
            )
        return None


def _started_early_fault(excess_s: float) -> Fault:
    return Fault(
        Verdict.REJECTED,
        "the GPU was at work before the inputs of a timed batch were there (a probe of the judge "
        f"took {seconds(excess_s)} longer than usual): no kernel may go on between calls",
        shared=True,
    )


def busy_device_fault(probe: Callable[[], float], usual: IdleBaseline) -> Fault | None:
    """What follows if the device is at work now, though no batch runs.

    Told from several probes: on some hosts one in twenty is late although nothing is at work.
    """
    return usual.started_early_fault(statistics.median(probe() for _ in range(_PROBES)))


def find_busy_session(sessions: Sequence[Session], device: Device, usual: IdleBaseline) -> int:
    """End ``sessions`` one after the other; without which of them ``device`` is idle.

    Raises:
        MachineError: it is at work without all of them, so it was none.
    """
    for which, session in enumerate(sessions):
        session.close()
        if busy_device_fault(device.probe, usual) is None:
            return which
    raise MachineError(
        f"another program is at work on {device.name}: no time can be taken beside it. Grade again "
        "when it has ended (nvidia-smi lists who uses the card)"
    )


# -- linear in calls -------------------------------------------------------------------------------

EXCESS = 1.05
"""How much longer a call may take alone than among many: more than was ever seen of honest ones."""

FIRST_S, NODE_S = 2e-6, 1e-6
"""What a lone call may take longer than the baseline's, and each of its kernels: code and addresses
come from memory, for the caches have just been flushed, and a short graph hides no launches."""

BASELINE_FIRST_S = 14e-6
"""How much longer the baselines' lone calls took for the same reasons: 10 to 14 µs on an H200. So
much too short the lone calls of others read, which does no harm where they may only be too long."""


DOUBT_S = 40e-6
"""How far the constants of two processes' lone calls were seen apart where nothing overlaps (20 µs
and less, of five of 23 kernels on an H100 whose host is restless), twice: so much longer may be the
host's doing, and may be calls that overlap."""


MAX_KERNELS = 8.0
"""How many kernels a call is believed to have, or twice as many as the baseline's: the number comes
from the process that runs the submission."""


def linearity_fault(measured: Measurement) -> Fault | None:
    """Whether the calls of a graph take longer alone than each does in a batch.

    Work of different calls that is merged, or runs side by side, costs less per call the more
    there are of them.
    """
    if _excess(measured) <= DOUBT_S:
        return None
    return Fault(
        Verdict.REJECTED,
        f"{_apart(measured)}: "
        "calls must run one after the other, as if each waited for the one before",
    )


def linearity_doubt(measured: Measurement) -> str:
    """Why it is open whether the calls of a graph ran one after the other; empty if it is not."""
    if not measured.captured or measured.isolated_s is None or _excess(measured) <= 0:
        return ""
    return f"{_apart(measured)}: on this machine it cannot be told whether calls overlap"


def _excess(measured: Measurement) -> float:
    """Seconds that a call surely takes longer alone, beyond what it may."""
    assert measured.isolated_s is not None
    believed = max(MAX_KERNELS, 2 * (measured.baseline_kernels or 0.0))
    may = FIRST_S + NODE_S * min(measured.kernels or 1.0, believed)
    return measured.isolated_s.low - may - EXCESS * measured.time_s.value


def _apart(measured: Measurement) -> str:
    assert measured.isolated_s is not None
    isolated_s, among_s = measured.isolated_s.value, measured.time_s.value
    return f"a call takes {seconds(isolated_s)} alone, but {seconds(among_s)} among many in a batch"


# -- speed of light --------------------------------------------------------------------------------

SOL_SLACK = 0.8
"""Part of the time at full speed below which no honest time lies: ceilings are measured ones, and a
part of what is written last stays in the cache."""


def below_sol_fault(time_s: float, sol_time_s: float, spec: str) -> Fault | None:
    """Whether a call took less time than the device needs for the bytes and operations of it."""
    if time_s >= SOL_SLACK * sol_time_s:
        return None
    return Fault(
        Verdict.REJECTED,
        f"{spec}: a call takes {seconds(time_s)}, and this device cannot do what the problem asks "
        f"for in less than {seconds(sol_time_s)}: not all of it was done in that time",
    )
