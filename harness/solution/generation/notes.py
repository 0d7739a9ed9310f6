"""The problem that a generation is for, and warnings for its reader.

Keep imports cheap: loaded before arguments are validated.
"""

from pathlib import Path

from harness.problem.lookup import other_subject
from harness.problem.model import Problem
from harness.records.refs import Generation
from harness.solution.model import Invalid, Solution
from harness.text.plain import plain


def generation_of(solution: Solution | Invalid) -> Generation | None:
    """The record of the generation that a submission was taken from; None if it was not."""
    if isinstance(solution, Solution):
        return solution.generation
    return solution.reference.generation if solution.reference else None


def said_problem(solution: Solution | Invalid) -> str | None:
    """The problem in the header of a generation, where nothing else has named one."""
    generation = generation_of(solution)
    said = generation.problem if generation else ""
    return said if said and solution.problem == said else None


def generation_notes(
    path: Path, solution: Solution | Invalid, problem: Problem, root: Path
) -> tuple[str, ...]:
    """A warning where the text of a generation is about another problem than it is graded for."""
    generation = generation_of(solution)
    if generation is None:
        return ()
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    other = other_subject(text, problem, root)
    if other is None:
        return ()
    header = f"its header says '{plain(generation.problem, 80)}'" if generation.problem else ""
    said = f" ({header})" if header else ""
    return (
        f"header and text differ: this is graded as {problem.slug}{said}, and the text speaks of "
        f"{other}",
    )
