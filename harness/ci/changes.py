"""What a pull request changes, as data: the raw difference of two trees, read."""

from dataclasses import dataclass
from enum import StrEnum

from harness.ci.repository import text_of

LINK = "120000"
SUBMODULE = "160000"
"""Modes of git's tree entries that are no files."""


class ChangeKind(StrEnum):
    """What became of a file."""

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
    """One file that differs.

    ``path`` is its path now, or the one that it had if it is gone; bytes that are no UTF-8 are
    surrogates. ``old_path`` is where it was before, if it was renamed, else empty. ``mode`` and
    ``blob`` are those of the head; ``blob`` is empty if the file is gone.
    """

    kind: ChangeKind
    path: str
    old_path: str = ""
    mode: str
    blob: str


def read_changes(raw: bytes) -> list[Change]:
    """The changes in the output of ``git diff-tree -r --raw -z``.

    Raises:
        ValueError: it is none.
    """
    words = iter(raw.split(b"\0")[:-1])
    changes = []
    for about in words:
        _, mode, _, blob, status = about.decode("ascii").removeprefix(":").split(" ")
        kind = _KINDS.get(status[:1])
        old = next(words, None) if kind is ChangeKind.RENAMED else b""
        path = next(words, None)
        if kind is None or old is None or path is None:
            raise ValueError(f"not a difference that is known: {about!r}")
        changes.append(
            Change(
                kind=kind,
                path=text_of(path),
                old_path=text_of(old),
                mode=mode,
                blob="" if kind is ChangeKind.DELETED else blob,
            )
        )
    return changes
