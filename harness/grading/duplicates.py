"""Files with the same content: graded once, each with a record of its own."""

import re
import secrets
import shlex
from collections.abc import Hashable, Iterator, Sequence
from datetime import UTC, datetime

from harness.errors import JudgeError
from harness.grading.job import Completed, Job, NotJudged, Outcome, Work, problem_key
from harness.grading.solution_refs import solution_ref, with_path
from harness.records.result import Result
from harness.solution.model import Solution


def content_key(job: Job) -> Hashable | None:
    """Equal for jobs whose files have the same content; None for files that cannot be read."""
    solution = job.solution
    if not isinstance(solution, Solution):
        return None
    return problem_key(job), solution.language, solution.hash


def copy_for_duplicate(result: Result, job: Job) -> Result:
    """The record of ``job``, whose content is that of ``result``: the same verdict and times.

    Author, file and date are its own, and a note names the file that was graded.
    """
    assert isinstance(job.solution, Solution), "content_key() has no key for anything else"
    about, graded = solution_ref(job.solution), result.solution.path
    command, own_command = (f"harness submit {shlex.quote(p)} " for p in (graded, about.path))
    note = f"the same content as {graded}, graded with it: verdict and times are its"
    return with_path(result, re.escape(graded), about.path).model_copy(
        update={
            "id": secrets.token_hex(16),
            "created": datetime.now(UTC),
            "solution": about,
            "reproduce": result.reproduce.replace(command, own_command, 1),
            "notes": (*result.notes, note),
        }
    )


def outcomes_of(alike: Sequence[Work], outcome: Outcome) -> Iterator[Completed | NotJudged]:
    """What it means for each of the files that are alike, the graded one first."""
    for each in alike:
        if isinstance(outcome, JudgeError):
            yield NotJudged(each, outcome)
        else:
            copied = each is not alike[0]
            yield Completed(each, copy_for_duplicate(outcome, each.job) if copied else outcome)


class Alike:
    """Files of the same content among those that are at work: one of them is graded."""

    def __init__(self) -> None:
        self._of: dict[Hashable, list[Work]] = {}

    def first_of(self, work: Sequence[Work]) -> list[Work]:
        """Those of ``work`` that no other stands for."""
        return [each for each in work if self._join(each)[0] is each]

    def _join(self, work: Work) -> list[Work]:
        group = self._of.setdefault(self._key(work), [])
        group.append(work)
        return group

    def of(self, first: Work) -> list[Work]:
        """What ``first`` stands for, with itself."""
        return self._of[self._key(first)]

    def take(self, first: Work) -> list[Work]:
        """The same, once; what comes later is graded again."""
        return self._of.pop(self._key(first))

    def _key(self, work: Work) -> Hashable:
        content = content_key(work.job)
        return id(work) if content is None else (content, work.options)
