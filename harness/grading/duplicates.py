"""Files that say the same: graded once, each with a record of its own."""

import re
import secrets
import shlex
from collections.abc import Hashable
from datetime import UTC, datetime

from harness.grading.job import Job
from harness.grading.result_builder import solution_ref
from harness.records.cases import CaseResult
from harness.records.result import Result
from harness.solution.model import Solution


def content_key(job: Job) -> Hashable | None:
    """Equal for jobs that are the same but for who handed it in; None where that cannot be told."""
    solution, problem = job.solution, job.problem
    if not isinstance(solution, Solution):
        return None
    return problem.slug, problem.hash, solution.language, solution.hash


def copy_for_duplicate(result: Result, job: Job) -> Result:
    """The record of ``job``, whose content is that of ``result``: the same verdict and times.

    Who, which file and when are its own, and a note says where the rest is from.
    """
    solution = job.solution
    assert isinstance(solution, Solution), "content() names nothing else"
    about = solution_ref(solution)
    place = re.compile(re.escape(result.solution.path) + r":(?=\d)")

    def placed(text: str) -> str:
        return place.sub(lambda _: f"{about.path}:", text)

    def placed_case(case: CaseResult) -> CaseResult:
        return case.model_copy(update={"message": placed(case.message)})

    shrunk, build = result.shrunk, result.build
    command = f"harness submit {shlex.quote(result.solution.path)} "
    own_command = f"harness submit {shlex.quote(about.path)} "
    note = f"the same content as {result.solution.path}, graded with it: verdict and times are its"
    return result.model_copy(
        update={
            "id": secrets.token_hex(16),
            "created": datetime.now(UTC),
            "solution": about,
            "message": placed(result.message),
            "reproduce": result.reproduce.replace(command, own_command, 1),
            "cases": tuple(map(placed_case, result.cases)),
            "shrunk": shrunk and shrunk.model_copy(update={"case": placed_case(shrunk.case)}),
            "build": build and build.model_copy(update={"log": placed(build.log)}),
            "notes": (*result.notes, note),
        }
    )
