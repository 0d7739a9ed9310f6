"""A git repository read as objects: nothing is checked out, and no code of it is run."""

import io
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from harness.ci.git import Done, LimitError, run_git
from harness.errors import MachineError, UsageError

MAX_ENTRIES = 20_000
"""Most changed files of a pull request that are listed."""

_LIST_BYTES = 8 << 20
_LIST_CPU_S = 2
_READ_BYTES = 32 << 20
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class TreeEntry(NamedTuple):
    """A file of a tree: its mode as git writes it (``100644``), its object, its path."""

    mode: str
    blob: str
    path: str


class Repository:
    """The repository that ``folder`` lies in.

    Raises:
        UsageError: it lies in none.
        LimitError: (a UsageError) git needed too much memory or time. Of all methods, as is
        MachineError: there is no git, or it failed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        done = self._try("rev-parse", "--git-dir")
        if done.status:
            raise UsageError(
                f"{folder}: git says: {done.complaint}. Run this in a clone of the repository"
            )

    def commit(self, ref: str, option: str) -> str:
        """The full name of the commit that ``ref`` names, which ``option`` gave.

        Raises:
            UsageError: there is no such commit here.
        """
        found = None if ref.startswith("-") else self._commit(ref)
        if found is None:
            raise UsageError(
                f"{option} {ref}: no such commit here; fetch it first (git fetch origin …)"
            )
        return found

    def base_of_branch(self, branch: str) -> str:
        """The commit of ``branch`` as it was last fetched, else of the local branch.

        Raises:
            UsageError: there is neither.
        """
        fetched = self._commit(f"refs/remotes/origin/{branch}")
        return fetched or self.commit(branch, "GITHUB_BASE_REF")

    def _commit(self, ref: str) -> str | None:
        wanted = f"{ref}^{{commit}}"
        done = self._try("rev-parse", "--verify", "--quiet", "--end-of-options", wanted)
        name = done.out.decode("ascii", "replace").strip()
        return name if done.status == 0 and _COMMIT.fullmatch(name) else None

    def merge_base(self, base: str, head: str) -> str:
        """The commit that ``head`` went off ``base``.

        Raises:
            UsageError: there is none, or more than one: then no single list holds all changes. Or
                the clone is shallow: then another commit may look like it, and hide changes.
        """
        if self._git("rev-parse", "--is-shallow-repository").strip() != b"false":
            raise UsageError(
                "this clone is shallow, so a change can hide in what it lacks: git fetch "
                "--unshallow (in a workflow: fetch-depth: 0)"
            )
        found = self._try("merge-base", "--all", base, head).out.decode("ascii").split()
        if len(found) == 1:
            return found[0]
        if found:
            raise UsageError(
                f"{head[:12]} and the base {base[:12]} were merged crosswise and have "
                f"{len(found)} merge bases; rebase the pull request"
            )
        raise UsageError(
            f"{head[:12]} and the base {base[:12]} have no common history; rebase the pull request "
            "on the base"
        )

    def changed(self, old: str, new: str, *, below: str = "", deep: bool = True) -> bytes:
        """What differs between two commits, as ``git diff-tree --raw -z`` writes it.

        Only ``below`` a folder, if given; without ``deep`` folders are listed, not their files.
        Only unchanged files count as renamed: to find others, git would compare contents, of which
        there may be any amount.

        Raises:
            LimitError: it is more than :data:`MAX_ENTRIES` files.
        """
        listed = self._git(
            "diff-tree",
            *(["-r"] if deep else []),
            *("--raw", "-z", "--no-abbrev", "--find-renames=100%"),
            *("--no-ext-diff", "--no-textconv", "--ignore-submodules=none"),
            *(old, new, "--"),
            *([below] if below else []),
            most=_LIST_BYTES,
            cpu_s=_LIST_CPU_S,
        )
        # Each file has a word about it, and one or two paths.
        if listed.count(b"\0:") >= MAX_ENTRIES:
            raise LimitError(f"git diff-tree: says more than {MAX_ENTRIES:,} files")
        return listed

    def files(self, commit: str, folder: str) -> list[TreeEntry]:
        """The files below ``folder`` in the tree of ``commit``, at any depth."""
        return self._tree(commit, f"{folder}/", "-r")

    def folders(self, commit: str, folder: str) -> list[str]:
        """The paths of the folders below ``folder``, at any depth."""
        return [entry.path for entry in self._tree(commit, f"{folder}/", "-r", "-d")]

    def file(self, commit: str, path: str) -> TreeEntry | None:
        """The file at ``path`` in the tree of ``commit``; None if there is none."""
        found = self._tree(commit, path)
        return found[0] if [entry.path for entry in found] == [path] else None

    def _tree(self, commit: str, path: str, *options: str) -> list[TreeEntry]:
        listed = self._git("ls-tree", *options, "-z", "--full-tree", commit, "--", path)
        entries = []
        for line in listed.split(b"\0")[:-1]:
            about, _, name = line.partition(b"\t")
            mode, _, blob = about.decode("ascii").split(" ")
            entries.append(TreeEntry(mode, blob, text_of(name)))
        return entries

    def date(self, commit: str) -> datetime | None:
        """When ``commit`` was made, as it says itself; None if that is no date."""
        header, _, _ = self._git("cat-file", "commit", commit).partition(b"\n\n")
        found = re.search(rb"^committer .*> (\d{1,11}) [+-]\d{4}$", header, re.MULTILINE)
        return datetime.fromtimestamp(int(found[1]), UTC) if found else None

    def sizes(self, blobs: Sequence[str]) -> list[int]:
        """The size of each blob in bytes.

        Raises:
            UsageError: one is not here, or is no blob.
        """
        return [_size(line) for line in self._cat("--batch-check", blobs).splitlines()]

    def read(self, blobs: Sequence[str]) -> Iterator[bytes]:
        """The contents of each blob, of which few are in memory at once.

        Raises:
            UsageError: one is not here, or is no blob.
        """
        group: list[str] = []
        room = 0
        for blob, size in zip(blobs, self.sizes(blobs), strict=True):
            if group and size > room:
                yield from self._contents(group)
                group = []
            room = (room if group else _READ_BYTES) - size
            group.append(blob)
        if group:
            yield from self._contents(group)

    def _contents(self, blobs: Sequence[str]) -> Iterator[bytes]:
        answer = io.BytesIO(self._cat("--batch", blobs))
        # Each is a line with its size, as many bytes, and a newline.
        for _ in blobs:
            yield answer.read(_size(answer.readline()) + 1)[:-1]

    def _cat(self, how: str, blobs: Sequence[str]) -> bytes:
        given = "".join(f"{b}\n" for b in blobs).encode("ascii")
        return self._git("cat-file", how, given=given, most=1 << 30)

    def _git(self, *arguments: str, **limits: Any) -> bytes:
        done = self._try(*arguments, **limits)
        if done.status:
            raise MachineError(f"git {arguments[0]} failed: {done.complaint}")
        return done.out

    def _try(self, *arguments: str, **limits: Any) -> Done:
        return run_git(self._folder, *arguments, **limits)


def text_of(path: bytes) -> str:
    """A path of git's as text; bytes that are no UTF-8 become surrogates."""
    return path.decode("utf-8", "surrogateescape")


def _size(line: bytes) -> int:
    name, _, kind = line.decode("ascii").strip().partition(" ")
    if not kind.startswith("blob "):
        raise UsageError(
            f"the object {name} is not here ({kind}); fetch the pull request with all its objects"
        )
    return int(kind.removeprefix("blob "))
