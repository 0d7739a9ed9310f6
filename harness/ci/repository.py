"""A git repository read as objects: nothing is checked out, and no code of it is run."""

import io
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from harness.errors import MachineError, UsageError

_SECONDS = 300.0
"""Time limit of one git command."""

_SAFE = (
    "--no-pager",
    "--literal-pathspecs",
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.fsmonitor=false"),
    # Reading an object must not fetch: a missing one is an error.
    *("-c", "protocol.allow=never"),
)
_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
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
        MachineError: there is no git, or it failed. Of all methods.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        done = self._try("rev-parse", "--git-dir")
        if done.returncode:
            raise UsageError(
                f"{folder}: git says: {_last_words(done)}. Run this in a clone of the repository"
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
        name = done.stdout.decode("ascii", "replace").strip()
        return name if done.returncode == 0 and _COMMIT.fullmatch(name) else None

    def merge_base(self, base: str, head: str) -> str:
        """The commit that ``head`` went off ``base``.

        Raises:
            UsageError: there is none, or more than one: then no single list holds all changes.
        """
        done = self._try("merge-base", "--all", base, head)
        found = done.stdout.decode("ascii").split()
        if len(found) == 1:
            return found[0]
        if found:
            raise UsageError(
                f"{head[:12]} and the base {base[:12]} were merged crosswise and have "
                f"{len(found)} merge bases; rebase the pull request"
            )
        remedy = "rebase the pull request on the base"
        if self._git("rev-parse", "--is-shallow-repository").strip() == b"true":
            remedy = "this clone is shallow: git fetch --unshallow (in a workflow: fetch-depth: 0)"
        raise UsageError(f"{head[:12]} and the base {base[:12]} have no common history; {remedy}")

    def changed(self, old: str, new: str) -> bytes:
        """What differs between two commits, as ``git diff-tree --raw -z`` writes it.

        Only unchanged files count as renamed: to find others, git would compare contents, of which
        there may be any amount.
        """
        return self._git(
            "diff-tree",
            *("-r", "--raw", "-z", "--no-abbrev", "--find-renames=100%"),
            *("--no-ext-diff", "--no-textconv", "--ignore-submodules=none"),
            *(old, new, "--"),
        )

    def files(self, commit: str, folder: str) -> list[TreeEntry]:
        """The files below ``folder`` in the tree of ``commit``, at any depth."""
        listed = self._git("ls-tree", "-r", "-z", "--full-tree", commit, "--", f"{folder}/")
        entries = []
        for line in listed.split(b"\0")[:-1]:
            about, _, path = line.partition(b"\t")
            mode, _, blob = about.decode("ascii").split(" ")
            entries.append(TreeEntry(mode, blob, text_of(path)))
        return entries

    def sizes(self, blobs: Sequence[str]) -> list[int]:
        """The size of each blob in bytes.

        Raises:
            UsageError: one is not here, or is no blob.
        """
        return [_size(line) for line in self._cat("--batch-check", blobs).splitlines()]

    def read(self, blobs: Sequence[str]) -> list[bytes]:
        """The contents of each blob.

        Raises:
            UsageError: one is not here, or is no blob.
        """
        answer = io.BytesIO(self._cat("--batch", blobs))
        # Each is a line with its size, as many bytes, and a newline.
        return [answer.read(_size(answer.readline()) + 1)[:-1] for _ in blobs]

    def _cat(self, how: str, blobs: Sequence[str]) -> bytes:
        return self._git("cat-file", how, given="".join(f"{b}\n" for b in blobs).encode("ascii"))

    def _git(self, *arguments: str, given: bytes = b"") -> bytes:
        done = self._try(*arguments, given=given)
        if done.returncode:
            raise MachineError(f"git {arguments[0]} failed: {_last_words(done)}")
        return done.stdout

    def _try(self, *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(
                ["git", *_SAFE, *arguments],
                cwd=self._folder,
                env={**os.environ, **_ENVIRONMENT},
                input=given,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        except FileNotFoundError as error:
            raise MachineError("git is not installed, or not on PATH") from error
        except subprocess.TimeoutExpired as error:
            raise MachineError(f"git {arguments[0]} took more than {_SECONDS:.0f} s") from error


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


def _last_words(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[0] if lines else f"exit status {done.returncode}"
