"""Files of commits, laid down in a folder of ours for as long as a grade takes."""

from collections.abc import Sequence
from pathlib import Path

from harness.ci.changes import LINK, SUBMODULE
from harness.ci.policy import Refusal, Submission
from harness.ci.repository import Repository
from harness.errors import UsageError
from harness.languages.read import MAX_BYTES


def lay_problems(repository: Repository, base: str, folder: Path) -> Path:
    """Write the base's ``problems/`` below ``folder``; returns where.

    Raises:
        UsageError: the base has none, or one holds something else than files.
    """
    entries = repository.files(base, "problems")
    if not entries:
        raise UsageError(f"the base {base[:12]} has no folder problems/")
    for entry in entries:
        if entry.mode in (LINK, SUBMODULE) or ".." in Path(entry.path).parts:
            raise UsageError(f"the base {base[:12]}: {entry.path} is not a file")
    for entry, content in zip(
        entries, repository.read([entry.blob for entry in entries]), strict=True
    ):
        _write(folder / entry.path, content)
    return folder / "problems"


def too_large(repository: Repository, submissions: Sequence[Submission]) -> list[Refusal]:
    """Those that are no submissions by their size, before any of it is read."""
    sizes = repository.sizes([each.change.blob for each in submissions])
    return [
        Refusal(each.change.path, f"is larger than {MAX_BYTES >> 20} MiB ({size:,} bytes)")
        for each, size in zip(submissions, sizes, strict=True)
        if size > MAX_BYTES
    ]


def lay_submissions(
    repository: Repository, submissions: Sequence[Submission], folder: Path
) -> None:
    """Write the submissions below ``folder``, each at its path, which :mod:`policy` has allowed."""
    contents = repository.read([each.change.blob for each in submissions])
    for each, content in zip(submissions, contents, strict=True):
        _write(folder / each.change.path, content)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        file.write(content)
