"""What the first grades of a command wait for, begun while torch is imported.

That takes two to four seconds, in which compilers and the process that runners are forked from can
do as much. So nothing here needs torch.
"""

from collections.abc import Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress

from harness.device.affinity import move_thread
from harness.device.cards import Card, choose_cards, driver_cards
from harness.device.quiet import Quiet
from harness.device.workplace import host_plan
from harness.errors import JudgeError, UsageError
from harness.grading.job import Job, Options, Work, chosen_dtype
from harness.languages import LANGUAGES
from harness.languages.build.cache import default_cache
from harness.sandbox.pause_gate import PauseGate
from harness.session.start_runner import begin_zygote
from harness.solution.model import Solution, Target

_LANGUAGE = "cuda"
"""Others need a runner to be built."""


class HeadStart(AbstractContextManager["HeadStart"]):
    """Builds the first CUDA files into the cache, where they are found when their turn comes.

    As other builds they keep off the seats of all cards, or take turns with times. Whatever is
    wrong with a file is said in its turn. At the end of the block nothing is built any more.

    Args:
        work: what will be graded first.
        chosen: the cards that have a judge each, ``all`` or their numbers, each of which begins
            with a file of its own; None: this process is the judge, on one card.
    """

    def __init__(self, work: Sequence[Work], chosen: str | None = None) -> None:
        self._many = len(work) > 1
        self._gate = PauseGate()
        self._over = False
        self._cards = driver_cards()
        cards = _chosen(chosen, self._cards)
        self._pool = ThreadPoolExecutor(max(1, len(cards)), "head-start")
        if not cards:
            return
        if chosen is None and any(each.options.timed for each in work):
            begin_zygote()  # of the baseline's runner
        for each, card in zip(filter(_is_built_by_nvcc, work), cards, strict=False):
            self._pool.submit(self._build, each.job, each.options, card)

    def __exit__(self, kind: object, *_: object) -> None:
        self._over = True
        if kind is not None:
            self._gate.cancel()
        self._pool.shutdown()

    def _build(self, job: Job, options: Options, card: Card) -> None:
        plan = host_plan(card.bus, [each.bus for each in self._cards])
        turn = nullcontext() if plan.apart else Quiet().building(self._wait)
        target = Target(kind="cuda", arch=card.architecture, timed=options.timed, ahead=self._many)
        with suppress(JudgeError, CancelledError, OSError), turn, self._gate.work():
            move_thread(plan.rest)
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


def _is_built_by_nvcc(work: Work) -> bool:
    solution = work.job.solution
    return isinstance(solution, Solution) and solution.language == _LANGUAGE
