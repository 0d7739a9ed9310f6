"""Files with the same content: graded once, each with a record of its own."""

import re
import secrets
import shlex
from collections.abc import Hashable
from datetime import UTC, datetime

from harness.grading.job import Job
from harness.grading.result_builder import solution_ref, with_path
from harness.records.result import Result
from harness.solution.model import Solution


def content_key(job: Job) -> Hashable | None:
    """Equal for jobs whose files have the same content; None for files that cannot be read."""
    solution, problem = job.solution, job.problem
    if not isinstance(solution, Solution):
        return None
    return problem.slug, problem.hash, solution.language, solution.hash


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
