"""``-`` as a file: a submission on standard input, whose language is named by an option."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import UsageError
from harness.frameworks import FRAMEWORKS
from harness.solution.suffixes import CUDA, PTX, PYTHON

if TYPE_CHECKING:
    from harness.solution.model import Invalid, Solution

STDIN = Path("-")

SUFFIXES = {
    "cuda": CUDA,
    "ptx": PTX,
    **dict.fromkeys(("triton", *FRAMEWORKS, "pytorch", "python"), PYTHON),
    "text": ".txt",
}
"""The extension of a file in each language; ``text`` is a language model's output."""


def read_stdin(
    language: str | None, *, problem: str | None, author: str | None
) -> Solution | Invalid:
    """The submission on standard input, or why it cannot be one.

    Raises:
        UsageError: no language is named.
    """
    from harness.languages.read import read_solution
    from harness.solution.contents import MAX_BYTES

    if language is None:
        known = ", ".join(SUFFIXES)
        raise UsageError(f"-: which language? submit and check take --language ({known})")
    submitted = sys.stdin.buffer.read(MAX_BYTES + 1)
    path = Path("stdin").with_suffix(SUFFIXES[language])
    return without_file(read_solution(path, submitted=submitted, problem=problem, author=author))


def without_file(solution: Solution | Invalid) -> Solution | Invalid:
    """``solution`` as one whose path is :data:`STDIN`, since nothing lies at its own."""
    from harness.solution.model import Solution

    if isinstance(solution, Solution):
        return replace(solution, display_path=str(STDIN))
    return solution
