"""Where an attempt takes place: four submissions, a short problem, a cache and a store."""

import contextlib
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from harness.records.result import Result, Verdict
from leaderboard.store import CorruptRecord, Store
from tools import ROOT
from tools.postgresql import Server

_PROBLEM = ROOT / "problems" / "vector-add"
_CUDA = (ROOT / "solutions" / "vector-add" / "samples" / "naive.cu").read_text()
_PYTORCH = "def solution(x, y, z, n):\n    z.copy_(x {} y)\n"
_SHORTER = (
    (r"cases: \d+", "cases: 2"),
    (r"always: \[[^]]*\]", "always: [1, 33]"),
    (r"(?s)cpu_benchmarks:.*?\n\n", "cpu_benchmarks:\n  - {n: 1024}\n\n"),
)
"""What is changed in the problem, so that a grade has all its parts and takes few seconds."""

EXPECTED = {
    "built.cu": Verdict.ACCEPTED,
    "new.cu": Verdict.ACCEPTED,
    "right.py": Verdict.ACCEPTED,
    "wrong.py": Verdict.WRONG_ANSWER,
}
"""The files by their names, and what is right about each."""


class Place:
    """A folder of these files, with all that a run needs; the cache has what was in ``cache``.

    The store is a file in it, or on ``server``.
    """

    def __init__(self, folder: Path, server: Server | None, cache: Path | None = None) -> None:
        self.folder, self._file = folder, folder / "results.sqlite"
        self.store = server.url if server else str(self._file)
        self.temporary = folder / "tmp"
        self.cache = folder / "cache"
        self._problems = folder / "problems"
        self._submissions = folder / "solutions" / "vector-add" / "someone"
        shutil.copytree(_PROBLEM, self._problems / "vector-add")
        statement = self._problems / "vector-add" / "problem.md"
        text = statement.read_text()
        for pattern, short in _SHORTER:
            text, count = re.subn(pattern, short, text)
            assert count == 1, pattern
        statement.write_text(text)
        if cache is not None:
            shutil.copytree(cache, self.cache)
        self.temporary.mkdir()
        self._submissions.mkdir(parents=True)
        sources: Mapping[str, str] = {
            "built.cu": _CUDA,
            "new.cu": f"{_CUDA}\n// {random.random()}\n",
            "right.py": _PYTORCH.format("+"),
            "wrong.py": _PYTORCH.format("-"),
        }
        for name in EXPECTED:
            (self._submissions / name).write_text(sources[name])
        self._environment = {
            **os.environ,
            "HARNESS_CACHE": str(self.cache),
            "HARNESS_STORE": self.store,
            "TMPDIR": str(self.temporary),
            "PYTHONPATH": str(ROOT),
            "OMP_NUM_THREADS": "1",
        }

    def submit(self, output: Path, *options: str) -> "subprocess.Popen[bytes]":
        """The run, its results as lines in ``output``, what it says in a log beside."""
        words = ["submit", str(self._submissions), "--device", "cpu", "--no-shrink", "--json", "-"]
        words += ["--problems", str(self._problems), *options]
        return self._start(output, words)

    def export(self, output: Path) -> int:
        """The exit code of an export of the whole store to ``output``."""
        return self._start(output, ["export"]).wait()

    def _start(self, output: Path, words: list[str]) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-c", "from harness.cli import main; main()", *words]
        with log_of(output).open("wb") as log, output.open("wb") as lines:
            return subprocess.Popen(
                command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=lines,
                stderr=log,
                start_new_session=True,
            )

    def results(self) -> list[Result]:
        """All results of the store.

        Raises:
            ValueError: a row is damaged, or the database is.
        """
        damaged: list[CorruptRecord] = []
        with Store.open(self.store) as store:
            found = list(store.recorded(on_corrupt=damaged.append))
        integrity = "ok"
        if self._file.exists():
            with contextlib.closing(sqlite3.connect(self._file)) as connection:
                (integrity,) = connection.execute("PRAGMA integrity_check").fetchone()
        if damaged or integrity != "ok":
            raise ValueError(f"the store is damaged: {damaged} {integrity}")
        return found

    def left_over(self) -> list[str]:
        """What lies in the folder for temporary files."""
        return sorted(p.name for p in self.temporary.iterdir() if p.name != "kernel-harness-locks")


def acknowledged(output: Path) -> Iterator[Result]:
    """What the judge said was recorded; a torn last line is not said."""
    for line in output.read_text().splitlines(keepends=True):
        if line.endswith("\n"):
            yield Result.from_json(line)


def log_of(output: Path) -> Path:
    """Where the command that writes ``output`` says the rest."""
    return output.with_suffix(".log")
