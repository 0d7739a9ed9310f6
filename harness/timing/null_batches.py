"""The null batches of a shape: which blocks have some of their own, and what each came to."""

import statistics
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from harness.session.fault import Fault
from harness.timing.budget import TimingBudget
from harness.timing.launch_overhead import OverheadProbe
from harness.timing.timed_program import TimedProgram

T = TypeVar("T")
_ALIKE = 2.0
"""Two batches of as many calls share a null batch where neither lasts so many times longer."""


class Null(NamedTuple):
    """What a null batch came to."""

    batch_s: float = 0.0
    """Seconds beyond the calls."""
    after_s: float = 0.0
    """Seconds of the probe after it."""
    early: Fault | None = None
    """Of a device that was at work before its inputs were there."""


def is_due(taken: int, blocks: int, budget: TimingBudget) -> bool:
    """Whether the last of ``blocks`` is to have a null batch, where ``taken`` have been so far.

    What needs no more than the least number of blocks is quiet. Where more are needed, what is
    subtracted has to get surer with them.
    """
    return taken < budget.null_blocks or blocks > budget.min_blocks


def in_turn(taken: Sequence[T], blocks: int) -> T:
    """The one that the last of ``blocks`` counts with where it has none of its own."""
    return taken[blocks % len(taken)]


class NullBatches:
    """The null batches of one shape: before each batch, on its own buffers or on others like them.

    Blocks that have none of their own (:func:`is_due`) count with those that there are, in turns.
    One that had to wait for other work on the device is none of them: it is too long.
    """

    def __init__(
        self, overhead: OverheadProbe, programs: Sequence[TimedProgram], budget: TimingBudget
    ) -> None:
        self._overhead = overhead
        self._programs = programs
        self._budget = budget
        self.forget()

    def forget(self) -> None:
        """Take all anew: batches have other lengths now, or the device is warm."""
        self._taken: list[list[Null]] = [[] for _ in self._programs]
        self._blocks = 0

    def begin_block(self) -> None:
        """To be called before the batches of each block."""
        self._blocks += 1
        most_s = self._budget.null_batch_s
        self._due = is_due(min(map(len, self._taken)), self._blocks, self._budget)
        self._wait_s = [min(each.estimated_call_s * each.calls, most_s) for each in self._programs]
        # Batches of the same layout that last about as long have the same overhead: one for both.
        alike = max(self._wait_s) <= _ALIKE * min(self._wait_s)
        self._shared = alike and len({each.calls for each in self._programs}) == 1
        if self._shared:
            self._wait_s = [statistics.fmean(self._wait_s)] * len(self._programs)
        self._of_both: Null | None = None

    def beside(self, which: int, seed: str) -> Null:
        """What the null batch before the next batch of one program came to."""
        program, taken = self._programs[which], self._taken[which]
        if not self._due:
            return in_turn(taken, self._blocks)
        self._overhead.warm_up(seed, program.cpu)
        null = self._of_both if self._shared else None
        if null is None:
            seconds = self._overhead.time(
                program.batch, f"{seed}/null", program.cpu, self._wait_s[which]
            )
            null = Null(seconds, self._overhead.after_s, self._overhead.started_early_fault())
        self._of_both = null
        if null.early is None:
            taken.append(null)
        return null
