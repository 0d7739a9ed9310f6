"""Find the submissions among files and folders."""

import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path

from harness.errors import UsageError
from harness.solution.generation.sample_file import sample_paths
from harness.solution.suffixes import GENERATIONS, NAMED, RECORDS, SOURCES
from harness.solution.wanted import is_prompt
from harness.text.plain import plain

_HEAD_BYTES = 4096
_NAMED_SUFFIXES = 5
_NEVER = re.compile(
    r"authors|changelog|changes|cmakelists|code_of_conduct|contributing|copying|credits|description"
    r"|licen[cs]e|notes?|notice|problem|readme|report|requirements|robots|security|todo"
)
"""What documents beside submissions are called."""


def solution_files(paths: Iterable[Path]) -> list[Path]:
    """The files as given, and the submissions below the folders, in order.

    These are all ``.cu``, ``.ptx`` and ``.py`` files, and the ``.txt`` and ``.md`` files that begin
    with the header of a generation; in a folder without sources all of them, but for a ``README``,
    ``notes`` and their like; and each record of the JSON lines among them, by its number
    (:mod:`harness.solution.generation.sample_file`). Nothing whose name, or whose folder's, begins
    with a dot.

    Raises:
        UsageError: a folder has none.
    """
    found: list[Path] = []
    for path in paths:
        folder = os.path.isdir(path) and not path.is_symlink()  # noqa: PTH112 - is_dir() may raise
        found += _below(path) if folder else sample_paths(path) or [path]
    return found


def _below(folder: Path) -> list[Path]:
    suffixes = (*SOURCES, *GENERATIONS, *RECORDS)
    files = sorted(
        path
        for path in folder.rglob("*")
        if path.suffix in suffixes and not _is_hidden(path.relative_to(folder))
    )
    records = {path: found for path in files if (found := sample_paths(path))}
    sources = any(path.suffix in SOURCES and not os.path.isdir(path) for path in files)  # noqa: PTH112
    beside = sources or bool(records)
    chosen: list[Path] = []
    for path in files:
        if path.suffix in RECORDS:
            chosen += records.get(path, [])
        elif path.suffix in SOURCES or _is_generation(path, beside):
            chosen.append(path)
    if not chosen:
        none = f"no {NAMED} file in this folder, and no generation (.txt, .md or .jsonl)"
        raise UsageError(f"{plain(str(folder))}: {none}{_others(folder)}")
    return chosen


def _is_hidden(path: Path) -> bool:
    """Whether tools keep it for themselves: ``.venv/…``, ``.ipynb_checkpoints/…``."""
    return any(part.startswith(".") or part == "__pycache__" for part in path.parts)


def _others(folder: Path) -> str:
    """Which extensions the files have that are there, for a message."""
    names = sorted({path.suffix for path in folder.iterdir() if path.suffix and path.is_file()})
    shown = plain(", ".join(names[:_NAMED_SUFFIXES]), 100)
    return f"; there are {shown}: harness check FILE says what to do" if names else ""


def _is_generation(path: Path, beside_sources: bool) -> bool:
    if _NEVER.fullmatch(path.stem.lower()) or is_prompt(path):
        return False
    if not beside_sources:
        return True
    from harness.solution.generation.header import read_header

    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return False
        with open(path, "rb") as file:
            start = file.read(_HEAD_BYTES).decode("utf-8", "replace")
    except OSError:
        return False
    return read_header(start.replace("\r\n", "\n"))[1] > 0
