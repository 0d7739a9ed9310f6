"""Recorded results become jobs again, if the submitted files are still there as they were."""

from collections.abc import Mapping
from pathlib import Path

from harness.grading.job import Job
from harness.languages.read import is_there, read_solution
from harness.problem.gradable import Gradable
from harness.problem.package import Problem
from harness.records.result import Result
from harness.solution.model import Invalid

GONE = "file gone"
CHANGED = "file changed, submit it yourself"
NO_PROBLEM = "problem gone, or with mistakes"


def job_again(result: Result, problems: Mapping[str, Gradable]) -> Job | str:
    """The job that ``result`` came from, for the present version of its problem.

    The file is looked for at the recorded path, from the current folder if that is relative.

    Returns:
        The job, with the recorded author; or why there is none, in a few words.
    """
    problem = problems.get(result.problem.slug)
    if problem is None:
        return NO_PROBLEM
    if isinstance(problem, Problem) and not problem.complete:
        return "problem cannot be graded yet"
    if result.dtype not in problem.dtypes:
        return f"problem no longer in {result.dtype}"
    recorded = result.solution
    # Not exists(): what lies behind a link was never submitted.
    if not recorded.path or not is_there(Path(recorded.path)):
        return GONE
    path, author = Path(recorded.path), recorded.author or None
    solution = read_solution(path, problem=problem.slug, author=author)
    if isinstance(solution, Invalid) or solution.hash != recorded.hash:
        return CHANGED
    return Job(path=recorded.path, solution=solution, problem=problem)
