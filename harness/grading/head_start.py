"""What the first grades of a command wait for, begun while torch is imported.

That takes two to four seconds, in which compilers and the process that runners are forked from can
do as much. So nothing here needs torch.
"""

from collections.abc import Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from itertools import cycle

from harness.device.affinity import move_thread
from harness.device.cards import Card, choose_cards, driver_cards
from harness.device.cpu_plan import CpuPlan
from harness.device.quiet import Quiet
from harness.device.workplace import host_plan
from harness.errors import JudgeError, UsageError
from harness.grading.job import Job, Options, Work, chosen_dtype
from harness.languages import LANGUAGES
from harness.languages.build.cache import default_cache
from harness.sandbox.host_memory import affordable_builders
from harness.sandbox.pause_gate import PauseGate, begun_before
from harness.session.start_runner import begin_zygote
from harness.solution.model import Solution, Target

_LANGUAGE = "cuda"
"""Others need a runner to be built."""


class HeadStart(AbstractContextManager["HeadStart"]):
    """Builds the first CUDA files into the cache, where they are found when their turn comes.

    As other builds they keep off the seats of all cards, or take turns with times; a judge in this
    process has them stand still while it takes a time. Whatever is wrong with a file is said in its
    turn. At the end of the block nothing is built any more.

    Args:
        work: what will be graded first. One file is begun for each judge; where builds keep off the
            seats, half as many as will be built side by side, for judges are starting meanwhile.
        chosen: the cards that have a judge each, ``all`` or their numbers; None: this process is
            the judge, on one card.
    """

    def __init__(self, work: Sequence[Work], chosen: str | None = None) -> None:
        self._many = len(work) > 1
        self._over = False
        there = driver_cards()
        cards = _chosen(chosen, there)
        files: list[Work] = []
        if cards:
            self._plan = host_plan(cards[0].bus, [each.bus for each in there])
            files = list(filter(_is_built_by_nvcc, work))[: _begun_at_once(self._plan, len(cards))]
        self._gate = PauseGate(builders=max(1, len(files)))
        self._pool = ThreadPoolExecutor(max(1, len(files)), "head-start")
        if cards and chosen is None and any(each.options.timed for each in work):
            begin_zygote()  # of the baseline's runner
        begun_before.add(self._gate)
        for each, card in zip(files, cycle(cards), strict=False):
            self._pool.submit(self._build, each.job, each.options, card.architecture)

    def __exit__(self, kind: object, *_: object) -> None:
        self._over = True
        begun_before.discard(self._gate)
        if kind is not None:
            self._gate.cancel()
        self._pool.shutdown()

    def _build(self, job: Job, options: Options, arch: str) -> None:
        turn = nullcontext() if self._plan.apart else Quiet().building(self._wait)
        target = Target(kind="cuda", arch=arch, timed=options.timed, ahead=self._many)
        with suppress(JudgeError, CancelledError, OSError), turn, self._gate.work():
            move_thread(self._plan.rest)
            assert isinstance(job.solution, Solution)
            dtype = chosen_dtype(job, options)
            cache = default_cache(ahead=True)
            LANGUAGES[_LANGUAGE].build(job.solution, job.problem, dtype, target, cache)

    def _wait(self, _seconds: float) -> None:
        if self._over:
            raise CancelledError


def _chosen(chosen: str | None, cards: Sequence[Card]) -> Sequence[Card]:
    if chosen is None:
        return cards[:1]
    with suppress(UsageError):  # said by who opens them
        return choose_cards(chosen, cards)
    return []


def _begun_at_once(plan: CpuPlan, judges: int) -> int:
    """How many files are begun for so many ``judges``."""
    return max(judges, affordable_builders(plan.builders) // 2) if plan.apart else judges


def _is_built_by_nvcc(work: Work) -> bool:
    solution = work.job.solution
    return isinstance(solution, Solution) and solution.language == _LANGUAGE
