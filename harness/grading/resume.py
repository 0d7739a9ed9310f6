"""Going on with a run that was interrupted: which files have a result already."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable

from harness.grading.job import Job
from harness.grading.solution_refs import solution_ref
from harness.records.refs import DeviceRef, SolutionRef, major
from harness.records.result import Result, Verdict
from harness.solution.model import Invalid


class RecordedResults:
    """Results that stand for a file: of the same content, problem version, data type and author.

    And of ``device`` and the major version of ``harness``. An ``INTERNAL_ERROR`` stands for none,
    nor does what was imported, nor, unless ``rough``, a mere verdict.
    Each stands for one file: of two with the same name and content, each needs a result. Of several
    that may stand for a file, those with an id in ``first`` do so first.
    """

    def __init__(
        self,
        results: Iterable[Result],
        device: DeviceRef,
        harness: str,
        first: Collection[str] = (),
        *,
        rough: bool = False,
    ) -> None:
        self.taken: list[str] = []
        """Ids of the results that stand for the files asked about so far."""
        self._recorded: dict[Hashable, list[tuple[str, Verdict]]] = defaultdict(list)
        for result in results:
            same_major = result.environment.harness_major == major(harness)
            conclusive = result.verdict is not Verdict.INTERNAL_ERROR and not result.origin
            enough = rough or result.effort != "verdict"
            if same_major and conclusive and enough and result.device == device:
                key = _key(result.problem.slug, result.problem.hash, result.solution, result.dtype)
                self._recorded[key].append((result.id, result.verdict))
        for found in self._recorded.values():
            found.sort(key=lambda each: each[0] not in first)

    def take(self, job: Job, dtype: str) -> Verdict | None:
        """The verdict that stands for ``job`` in ``dtype``; None if there is none (left)."""
        solution = job.solution
        about = solution.reference if isinstance(solution, Invalid) else solution_ref(solution)
        if about is None:
            return None
        found = self._recorded.get(_key(job.problem.slug, job.problem.hash, about, dtype))
        if not found:
            return None
        id_, verdict = found.pop(0)
        self.taken.append(id_)
        return verdict


def _key(slug: str, problem_hash: str, about: SolutionRef, dtype: str) -> Hashable:
    return slug, problem_hash, about.author, about.name, about.hash, dtype
