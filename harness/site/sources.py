"""The code of an entry, if its file still is where it was and what it was."""

import os
from pathlib import Path

from harness.result import Result
from harness.solution.model import Invalid
from harness.solution.read import read_solution


def source_of(result: Result) -> str | None:
    """Text of the submitted file, None if it is gone, or no longer what was graded.

    The file is looked for at the recorded path, from the current folder if that is relative.
    """
    recorded = result.solution
    if not recorded.path or "\0" in recorded.path or not os.path.lexists(recorded.path):
        return None
    solution = read_solution(Path(recorded.path), problem=None, author=None)
    if isinstance(solution, Invalid) or solution.hash != recorded.hash:
        return None
    return solution.text
