"""Real git repositories to test with: a base with problems and solutions, and branches off it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.repositories import CI, GOOD, ISOLATED, ROOT, Ended, Repo, pretended

from harness.ci.choices import CiChoices
from harness.ci.command import run
from harness.ci.repository import Repository
from harness.errors import JudgeError
from harness.grading.job import Completed, Work


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The base: vector-add, and solutions of alice and bob; on a branch `pr` off it."""
    folder = tmp_path_factory.mktemp("base")
    repo = Repo(folder)
    repo.git("init", "--quiet", "--initial-branch=main")
    source = ROOT / "problems/vector-add"
    without = shutil.ignore_patterns("examples", "__pycache__")
    shutil.copytree(source, folder / "problems/vector-add", ignore=without)
    # Few and small cases: what is tested is not the judge.
    statement = folder / "problems/vector-add/problem.md"
    text = re.sub(r"always: \[1, 2,[^]]*\]", "always: [1, 33]", statement.read_text("utf-8"))
    text = text.replace("range: [1, 200000]", "range: [1, 2000]")
    repo.write("problems/vector-add/problem.md", text.replace("\ncases: 12\n", "\ncases: 3\n"))
    repo.write("README.md", "A contest.\n")
    repo.write("solutions/vector-add/alice/first.py")
    repo.write("solutions/vector-add/bob/first.py", GOOD + "# bob's\n")
    repo.commit("base")
    repo.git("checkout", "--quiet", "-b", "pr")
    shutil.rmtree(folder / ".git/hooks", ignore_errors=True)  # samples, copied for each test
    return folder


@pytest.fixture
def repo(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    for name, value in ISOLATED.items():
        monkeypatch.setenv(name, value)
    for name in ("GITHUB_BASE_REF", "GITHUB_STEP_SUMMARY", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "clone"
    shutil.copytree(template, folder)
    return Repo(folder)


@pytest.fixture
def ci(repo: Repo, tmp_path: Path) -> CI:
    """Runs the command on the repository, with verdicts that are pretended."""

    def call(grade: Any = pretended, *, backwards: bool = False, **choices: object) -> Ended:
        wanted = CiChoices(**{"base": "main", "out": tmp_path / "out", **choices})

        def completed(work: Sequence[Work], device: str) -> Iterator[Completed]:
            order = work[::-1] if backwards else work
            results = grade([each.job for each in order], work[0].options, device)
            yield from map(Completed, order, results)

        try:
            return Ended(run(wanted, Repository(repo.folder), completed), None, wanted.out)
        except JudgeError as error:
            return Ended(error.exit_code, error, wanted.out)

    return call
