"""Repositories to test with, verdicts that are pretended, and how the command ended."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from harness.ci.report import PullRequestReport
from harness.errors import JudgeError
from harness.grading.job import Job, Options
from harness.records.cases import CaseResult
from harness.records.refs import DeviceRef, SolutionRef
from harness.records.result import Result, Verdict
from harness.solution.model import Invalid
from support import samples

ROOT = Path(__file__).parents[2]
ISOLATED = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Author",
    "GIT_AUTHOR_EMAIL": "author@example.org",
    "GIT_COMMITTER_NAME": "Author",
    "GIT_COMMITTER_EMAIL": "author@example.org",
}
GOOD = "def solution(x, y, z, n):\n    z.copy_(x + y)\n"
WRONG = "# WRONG\n\ndef solution(x, y, z, n):\n    z.copy_(x - y)\n"


class Repo:
    """A repository in a folder, and git in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def git(self, *arguments: str, given: bytes | None = None) -> str:
        done = subprocess.run(
            ["git", "-C", str(self.folder), *arguments],
            env={**os.environ, **ISOLATED},
            input=given,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def write(self, path: str | bytes, content: str | bytes = GOOD) -> None:
        target = Path(os.fsdecode(os.path.join(os.fsencode(self.folder), os.fsencode(path))))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(self, message: str = "change") -> str:
        self.git("add", "--all", "--force")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def tree(self, *entries: tuple[str, str, str]) -> str:
        """Write a tree of entries (mode, name, object), which git does not check."""
        raw = b"".join(f"{m} {name}\0".encode() + bytes.fromhex(sha) for m, name, sha in entries)
        return self.git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", given=raw)

    def nested(self, levels: int, width: int, leaf: tuple[str, str, str]) -> str:
        """A tree of ``width ** levels`` leaves, made of one object a level."""
        tree = self.tree(*((leaf[0], f"{leaf[1]}{n:03}.py", leaf[2]) for n in range(width)))
        for _ in range(levels - 1):
            tree = self.tree(*(("40000", f"d{n:03}", tree) for n in range(width)))
        return tree

    def commit_with(self, path: str, mode: str, sha: str) -> str:
        """A commit off main in whose tree ``path`` is replaced, without an index."""
        for name in reversed(path.split("/")):
            folder = path[: -len(name)].rstrip("/")
            listed = self.git("ls-tree", f"main:{folder}").splitlines()
            known = [re.split(r"[ \t]", line, maxsplit=3) for line in listed]
            entries = {each: (m.lstrip("0"), each, s) for m, _, s, each in known}
            entries[name] = (mode, name, sha)
            sha, mode, path = self.tree(*(entries[e] for e in sorted(entries))), "40000", folder
        return self.git("commit-tree", sha, "-p", "main", "-m", "by hand")

    def commit_entry(self, mode: str, path: str, content: bytes) -> str:
        """Commit a tree entry of any mode, without a file."""
        blob = self.git("hash-object", "-w", "--stdin", given=content)
        if mode == "160000":
            blob = self.git("rev-parse", "HEAD")
        self.git("update-index", "--add", "--cacheinfo", f"{mode},{blob},{path}")
        self.git("commit", "--quiet", "-m", "entry")
        return self.git("rev-parse", "HEAD")


def pretended(jobs: Sequence[Job], options: Options, device: str) -> Iterator[Result]:
    """Verdicts without grading: a file that says WRONG is wrong. Timed if that is asked for."""
    for job in jobs:
        yield pretend(job, options)


def pretend(job: Job, options: Options) -> Result:
    problem = {"problem": job.problem.slug, "problem_hash": job.problem.hash}
    if isinstance(job.solution, Invalid):
        nothing = SolutionRef(author="", name="", language="", hash="", path=job.path)
        return samples.failed(
            Verdict.INVALID_SUBMISSION, message=job.solution.message, solution=nothing,
            language="", **problem,
        )  # fmt: skip
    solution = job.solution
    about = SolutionRef(
        author=solution.author, name=solution.name, language=solution.language,
        hash=solution.hash, path=job.path,
    )  # fmt: skip
    now = {"created": datetime.now(UTC)}
    told = {**now, "solution": about, "language": solution.language, **problem}
    if "WRONG" in solution.text:
        case = CaseResult(spec="n=1", passed=False, message="z differs")
        return samples.failed(message="1 of 1 elements of z are wrong", cases=(case,), **told)
    if options.timed:
        return samples.result(**told)
    cpu = DeviceRef(kind="cpu", name="a CPU")
    return samples.result(measurements=(), score=None, device=cpu, **told)


class Ended:
    """How `harness ci` ended, and what it wrote."""

    def __init__(self, status: int, error: JudgeError | None, out: Path) -> None:
        self.status, self.error, self.out = status, error, out

    @property
    def report(self) -> PullRequestReport:
        return PullRequestReport.from_json((self.out / "report.json").read_text(encoding="utf-8"))

    @property
    def refused(self) -> dict[str, str]:
        return {note.path: note.reason for note in self.report.refused}

    @property
    def verdicts(self) -> dict[str, str]:
        return {each.path: str(each.result.verdict) for each in self.report.graded}


CI = Callable[..., Ended]
