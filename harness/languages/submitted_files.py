"""The file of a result: as the store has kept it, else as it lies, if it is what was graded."""

import os
from hashlib import sha256
from pathlib import Path

from harness.languages.read import parse_solution, read_solution
from harness.records.result import Result
from harness.solution.model import Solution


def submitted_file(result: Result, kept: bytes | None) -> bytes | None:
    """The submitted file, byte for byte; None if it is neither ``kept`` nor where it was.

    It is looked for at the recorded path, from the current folder if that is relative, and taken
    if its hash is the recorded one.
    """
    recorded = result.solution
    if kept is not None:
        return kept
    if not recorded.path or "\0" in recorded.path or not os.path.lexists(recorded.path):
        return None
    found = read_solution(Path(recorded.path)).submitted
    if found is None or sha256(found).hexdigest() != recorded.hash:
        return None
    return found


def code_of(result: Result, kept: bytes | None) -> str | None:
    """The code in that file, None where :func:`submitted_file` has none or there is no code."""
    file = submitted_file(result, kept)
    if file is None:
        return None
    solution = parse_solution(file, Path(result.solution.path))
    return solution.text if isinstance(solution, Solution) else None
