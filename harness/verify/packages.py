"""Which folders a command line means. Never imports torch."""

from collections.abc import Sequence
from pathlib import Path

from harness.errors import UsageError
from harness.problem.format.load import STATEMENT_FILE, find_problem


def package_folders(root: Path, names: Sequence[str]) -> list[Path]:
    """The folder of each name: a folder, or a slug of a package in ``root``; all for no name.

    A package need not load to be found by its folder.

    Raises:
        UsageError: there is none of that name, or none at all.
        ProblemError: one that is found by its slug alone does not load.
    """
    if not names:
        every = sorted(f for f in root.iterdir() if (f / STATEMENT_FILE).is_file())
        if not every:
            raise UsageError(f"no problem in {root}")
        return every
    return list(dict.fromkeys(_folder(root, name) for name in names))


def _folder(root: Path, name: str) -> Path:
    for folder in (root / name, Path(name)):
        if (folder / STATEMENT_FILE).is_file():
            return folder
    return find_problem(root, name).folder
