"""The file of a result: the store's copy, else the file at its path, if that was graded."""

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
    """The code in :func:`submitted_file`; None without a file, or without code in it."""
    file = submitted_file(result, kept)
    if file is None:
        return None
    solution = parse_solution(file, Path(result.solution.path))
    return solution.text if isinstance(solution, Solution) else None
