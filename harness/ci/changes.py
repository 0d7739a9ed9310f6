"""The changes of a pull request, read from git's raw difference of two trees."""

from dataclasses import dataclass
from enum import StrEnum

from harness.ci.git import LimitError
from harness.ci.repository import Repository, text_of

LINK = "120000"
SUBMODULE = "160000"
"""Modes of git's tree entries that are no files."""

FILES = ("100644", "100755", "100664")
"""Modes of those that are; the last is of old commits."""


class ChangeKind(StrEnum):
    """How a file changed."""

    ADDED = "added"
    MODIFIED = "modified"
    RENAMED = "renamed"
    DELETED = "deleted"


_KINDS = {
    "A": ChangeKind.ADDED,
    "M": ChangeKind.MODIFIED,
    "T": ChangeKind.MODIFIED,  # such as a file that became a symbolic link: its mode says so
    "R": ChangeKind.RENAMED,
    "D": ChangeKind.DELETED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One file that differs: its path in the head, or its last one if it was deleted.

    ``old_path`` is that of a renamed file in the base, else empty. ``mode`` and ``blob`` are those
    of the head; ``blob`` is empty if the file was deleted. Bytes in paths that are no UTF-8 are
    surrogates.
    """

    kind: ChangeKind
    path: str
    old_path: str
    mode: str
    blob: str


def find_changes(repository: Repository, old: str, new: str, folder: str) -> list[Change]:
    """The files that differ between two commits; many of them only below ``folder``.

    If there are more than can be listed, what lies elsewhere is told by the names at the top of the
    tree alone, as if folders were files.

    Raises:
        LimitError: there are still too many.
    """
    try:
        return read_changes(repository.changed(old, new))
    except LimitError:
        top = read_changes(repository.changed(old, new, deep=False))
        elsewhere = [change for change in top if change.path != folder]
        if not elsewhere:
            raise
    return elsewhere + read_changes(repository.changed(old, new, below=folder))


def read_changes(raw: bytes) -> list[Change]:
    """The changes in the output of ``git diff-tree -r --raw -z``.

    Raises:
        ValueError: it is not such output.
    """
    words = iter(text_of(raw).split("\0")[:-1])
    changes = []
    for about in words:
        _, mode, _, blob, status = about.removeprefix(":").split(" ")
        kind = _KINDS.get(status[:1])
        old = next(words, None) if kind is ChangeKind.RENAMED else ""
        path = next(words, None)
        if kind is None or old is None or path is None:
            raise ValueError(f"unknown kind of change: {about!a}")
        blob = "" if kind is ChangeKind.DELETED else blob
        changes.append(Change(kind=kind, path=path, old_path=old, mode=mode, blob=blob))
    return changes
