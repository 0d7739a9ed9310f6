"""Grade impostors and honest variants with the judge's own batch, reference and comparison.

Every case of a grade is drawn, laid out and filled as for a submission; what an impostor would
leave in the outputs is written there, and checked by the same code.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace

import torch

from harness.errors import ProblemError
from harness.grading.turns import shared_meanwhile
from harness.judge.batch import BatchMismatch
from harness.judge.layout import lay_out
from harness.problem.case import Case
from harness.problem.sampling.footprint import CALLS
from harness.progress.progress import Progress
from harness.verify.impostor import Impostor
from harness.verify.trial import Answers, PackageTask, Trial, TrialMemory, write
from harness.verify.variants import Compute


@dataclass(slots=True)
class DetectionScore:
    """How an impostor or a variant did in one grade.

    Of the ``cases`` tried its answer could not be evaluated in ``broken`` ones and differs from the
    right one in ``applicable`` ones; of these ``refused`` were found wrong. ``first`` is the spec
    of the first refused case, and what was wrong there.
    """

    cases: int = 0
    applicable: int = 0
    refused: int = 0
    broken: int = 0
    first: tuple[str, BatchMismatch] | None = None

    def refuse(self, trial: Trial, found: BatchMismatch) -> None:
        """Count a case where it was found wrong."""
        self.refused += 1
        self.first = self.first or (trial.case.spec, found)

    @property
    def settled(self) -> bool:
        """Whether further cases are not worth their time."""
        return self.refused >= ENOUGH and self.refused == self.applicable


@dataclass(frozen=True, slots=True)
class GradeScores:
    """All scores of one grade, by name, and the seed that draws its cases."""

    seed: str
    impostors: dict[str, DetectionScore]
    variants: dict[str, DetectionScore]


ENOUGH = 6
"""Refused cases of a grade after which an impostor is not tried in the rest, if it was refused in
every one where it differs: most are refused everywhere, and seeing that again takes most of the
time."""

STEPWISE = 1e8
"""Operations of a timed case up to which sums are imitated step by step: impostors and variants
that sum so go through smaller ones alone. Single rows of 4 · 10⁷ numbers are among these."""

ROUNDS = 4
"""Times that all families are tried at a timed shape, while an impostor passes: what is drawn for
one output, as a single row has, need not tell at once, nor make it differ."""

LARGE = 1 << 19
"""Bytes of a batch from which on impostors that were refused once are not tried in it."""


def run_grade(
    task: PackageTask,
    cases: Sequence[Case],
    impostors: Sequence[Impostor],
    variants: Mapping[str, Compute],
    progress: Progress,
    look: Callable[[Trial], None] | None = None,
) -> GradeScores:
    """Try the impostors with the cases, and all variants with all cases; ``look`` gets each first.

    ``progress`` counts the cases.

    Raises:
        ProblemError: the reference is wrong.
        MachineError: the device has not enough memory.
    """
    scores = GradeScores(
        task.seed,
        {one.name: DetectionScore() for one in impostors},
        {name: DetectionScore() for name in variants},
    )
    memory = TrialMemory()
    size = max(lay_out(task, case, CALLS).size for case in cases)
    with closing(task.device.arena(size)) as arena, _one_core():
        for number, case in enumerate(cases):
            with shared_meanwhile(task.device, progress):
                trial = Trial(task, case, number, arena, memory)
                if look is not None:
                    look(trial)
                large = trial.batch.layout.size > LARGE
                for impostor in impostors:
                    score = scores.impostors[impostor.name]
                    if not (score.settled or (large and score.refused)):
                        _try_impostor(trial, impostor, score)
                _try_variants(trial, variants, scores.variants)
                trial.remember()
            progress.advance()
    return scores


def run_timed(
    task: PackageTask,
    case: Case,
    impostors: Sequence[Impostor],
    variants: Mapping[str, Compute],
    turn: int,
    progress: Progress,
) -> GradeScores:
    """Try the impostors in batches as one timed shape has them, and the variants in one of them.

    The first batch has calls with the declared values and one of another family, the others each
    one of those families; ``turn`` says in which of these the variants are tried. An impostor is
    tried until it is refused, in :data:`ROUNDS` rounds at most.

    Raises:
        ProblemError: the reference is wrong.
        MachineError: the device has not enough memory.
    """
    task = replace(task, seed=f"{task.seed}/timed/{case.spec}")
    scores = GradeScores(
        task.seed,
        {one.name: DetectionScore() for one in impostors},
        {name: DetectionScore() for name in variants},
    )
    work = task.problem.work(case, task.dtype).flops or math.prod(case.sizes.values())
    short = work <= STEPWISE
    left = [one for one in impostors if one.timed and (short or not one.stepwise)]
    families = task.problem.timed_families(task.dtype)
    cases = [case, *(replace(case, family=family) for family in families)]
    memory = TrialMemory()
    with closing(task.device.arena(lay_out(task, case, CALLS).size)) as arena, _one_core():
        for number, one in enumerate(cases * ROUNDS):
            mine = variants if short and number == turn % len(cases) else {}
            if not (left or mine):
                continue
            own = replace(task, seed=f"{task.seed}/{number}")
            with shared_meanwhile(task.device, progress):
                trial = Trial(own, one, number, arena, memory, timed=True)
                for impostor in left:
                    _try_impostor(trial, impostor, scores.impostors[impostor.name])
                left = [each for each in left if not scores.impostors[each.name].refused]
                _try_variants(trial, mine, scores.variants)
                trial.remember()
    return scores


@contextmanager
def _one_core() -> Iterator[None]:
    """Keep torch to one core: handing many small operations to others costs more than it saves."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _try_impostor(trial: Trial, impostor: Impostor, score: DetectionScore) -> None:
    score.cases += 1
    batch = trial.batch
    wrong_calls = range(CALLS) if impostor.both else [trial.number % CALLS]
    try:
        for call in range(CALLS):
            views = batch.outputs(call)
            if call in wrong_calls:
                impostor.write(trial, call, views)
            else:
                write(views, trial.right[call])
        # Bit for bit right: there is nothing to see through in this case.
        if all(trial.is_right(call, batch.outputs(call)) for call in wrong_calls):
            return
        score.applicable += 1
        found = batch.check(trial.expected)
        if found is not None:
            score.refuse(trial, found)
    except ProblemError:  # the reference cannot be evaluated with such arguments
        score.broken += 1
    finally:
        batch.reset()


def _try_variants(
    trial: Trial, variants: Mapping[str, Compute], scores: Mapping[str, DetectionScore]
) -> None:
    """All variants, each in one call; the calls of a batch are those of different variants."""
    names = list(variants)
    for start in range(0, len(names), CALLS):
        # Another call in the next case, so that each variant meets both.
        batch = enumerate(names[start : start + CALLS], trial.number)
        chosen = {number % CALLS: name for number, name in batch}
        answers = {call: variants[name](trial, call) for call, name in chosen.items()}
        for call, name in chosen.items():
            scores[name].cases += 1
            scores[name].applicable += not trial.is_right(call, answers[call])
        while (found := _check(trial, answers)) is not None:
            if found.call not in answers:  # the right answer itself: “float64 inside” reports it
                break
            scores[chosen[found.call]].refuse(trial, found)
            del answers[found.call]


def _check(trial: Trial, answers: dict[int, Answers]) -> BatchMismatch | None:
    """Have the judge check ``answers``; calls that have none get the right one.

    They overwrite those before: what the outputs held first need not be put back.
    """
    for call in range(CALLS):
        write(trial.batch.outputs(call), answers.get(call, trial.right[call]))
    return trial.batch.check(trial.expected)
