"""The problem that a generation is for, and warnings for its reader.

Keep imports cheap: loaded before arguments are validated.
"""

from pathlib import Path

from harness.problem.lookup import other_subject
from harness.problem.package import Problem
from harness.solution.model import Invalid, Solution
from harness.text.plain import plain


def said_problem(solution: Solution | Invalid) -> str | None:
    """The problem in the header of a generation, where nothing else has named one."""
    said = solution.generation.problem if solution.generation else ""
    return said if said and solution.problem == said else None


def generation_notes(solution: Solution | Invalid, problem: Problem, root: Path) -> tuple[str, ...]:
    """A warning where the text of a generation is about another problem than it is graded for."""
    if solution.generation is None or solution.submitted is None:
        return ()
    text = solution.submitted.decode("utf-8-sig", "replace")
    other = other_subject(text, problem, root)
    if other is None:
        return ()
    named = plain(solution.generation.problem, 80)
    graded = f"{problem.slug} (its header says '{named}')" if named else problem.slug
    return (f"header and text differ: this is graded as {graded}, and the text speaks of {other}",)
