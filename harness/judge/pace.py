"""How much work a case may have where kernels are emulated: what the emulator does in seconds."""

import random
from collections.abc import Sequence
from hashlib import sha256

from harness.judge.task import Task
from harness.problem.case import Case, CaseLimits
from harness.problem.model import Declaration
from harness.problem.sampling.cases import CaseSampler

WORK = 2e6
"""Operations of one correctness case on the CPU path: a fraction of a second of emulation."""

ROW_WORK = 1000.0
"""Least operations of a row there: 256 emulated threads, or a Triton program, take milliseconds."""

TARGET_S = 3.0
"""What a case may take of a submission's own time; more is expected of none."""

_SHARE = 0.5
"""Of the time that is left for all cases, what those to come may be expected to take."""

_NOTICED_S = 0.1
_RECENT = 3
_LESS = 4
"""A case that ran out of time has this many times the work of the next one tried."""

_LEAST_WORK = 1e5
"""No emulation takes a second for this much: what runs out of time there hangs."""

_UNEXPECTED = 10.0
"""A case takes that many times what a smaller one lets expect only if it hangs."""


class Pace:
    """Measures the emulation of one submission in its cases, and sizes those to come.

    The work is as when cases are drawn. What a case costs beside it is taken to be the same for
    all, and no more than the cheapest took.
    """

    def __init__(self, task: Task, declared: Declaration) -> None:
        self._task = task
        self._declared = declared
        self._measured: list[tuple[float, float]] = []  # work, seconds

    def work(self, case: Case) -> float:
        """Operations of a case."""
        return self._sampler(case, CaseLimits(row_work=ROW_WORK)).work(case)

    def in_order(self, cases: Sequence[Case]) -> list[Case]:
        """The cases, those with the least work first: what they take tells of those that follow."""
        return sorted(cases, key=lambda case: (self.work(case), sum(case.sizes.values())))

    def note(self, case: Case, seconds: float) -> None:
        """Remember what a case took of the submission's own time."""
        self._measured.append((self.work(case), seconds))

    def fitting(self, case: Case, left_s: float, cases: int) -> Case:
        """``case``, or a smaller one if it would take too long.

        ``left_s`` seconds are left for it and others, ``cases`` in all.
        """
        base = min((seconds for _, seconds in self._measured), default=0.0)
        rates = [(s - base) / w for w, s in self._measured[-_RECENT:] if s - base >= _NOTICED_S]
        if not rates:
            return case
        seconds = min(TARGET_S, _SHARE * left_s / cases) - base
        done = max(work for work, _ in self._measured)
        # Where the cost of any case is too much already, at least no case has more work.
        work = seconds / max(rates) if seconds > 0 else done
        return case if self.work(case) <= work else self._shrunk(case, work)

    def smaller(self, case: Case) -> Case | None:
        """A case to try where ``case`` ran out of time; None if it cannot have been the work."""
        work = self.work(case)
        if work < _LEAST_WORK:
            return None
        less = self._shrunk(case, work / _LESS)
        return less if self.work(less) < work else None

    def hung(self, case: Case, seconds: float, less: Case, took_s: float) -> bool:
        """Whether ``case`` hung: stopped after ``seconds``, while ``less`` took only ``took_s``."""
        expected = max(took_s, _NOTICED_S) * self.work(case) / self.work(less)
        return _UNEXPECTED * expected < seconds

    def _shrunk(self, case: Case, work: float) -> Case:
        """``case`` with its largest sizes reduced until it has that little work, if it can."""
        sampler = self._sampler(case, CaseLimits(work=work, row_work=ROW_WORK))
        sizes = {p.name: case.sizes[p.name] for p in sampler.drawn()}
        return sampler.shrunk(sizes, dict(case.scalars), case.family)

    def _sampler(self, case: Case, room: CaseLimits) -> CaseSampler:
        digest = sha256(f"smaller|{self._task.seed}|{case.spec}".encode()).digest()
        source = random.Random(digest)  # noqa: S311 - seeded by a secret
        return CaseSampler(self._declared, self._task.dtype, source, room)
