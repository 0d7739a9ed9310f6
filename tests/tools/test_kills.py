"""Kills at random moments, through the script that does it two hundred times."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from support.samples import result

from harness.records.refs import SolutionRef
from harness.records.result import Result, Verdict
from tools.kills.__main__ import planned
from tools.kills.attempt import Attempt, is_exact
from tools.kills.place import EXPECTED, acknowledged
from tools.kills.strike import VICTIMS

ROOT = Path(__file__).parents[2]


def _run(*words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "tools.kills", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.mark.corpus
def test_nothing_is_lost_or_left() -> None:
    done = _run("--count", "8", "--jobs", "2")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.corpus
def test_it_runs_without_postgresql(tmp_path: Path) -> None:
    # As if psycopg were not installed.
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['psycopg'] = None\n")
    done = _run("--count", "1", "--victims", "judge", PYTHONPATH=str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SQLite alone: psycopg is not installed" in done.stdout


def test_every_victim_has_both_moments_and_half_come_after_the_first_result() -> None:
    plan = planned(200, ("sqlite", "postgresql"), VICTIMS)
    moments = Counter((each.store, each.victim, each.after_first) for each in plan)
    assert sum(each.after_first for each in plan) in range(95, 106)
    assert {each[:2] for each in moments} == {
        *(("postgresql", victim) for victim in VICTIMS),
        *(("sqlite", victim) for victim in VICTIMS if victim != "server"),
    }
    assert len(moments) == 2 * len({each[:2] for each in moments})


def _of(name: str, verdict: Verdict | None = None) -> Result:
    about = SolutionRef(
        author="someone", name=name, language="cuda", hash="", path=f"solutions/{name}"
    )
    return result(solution=about).model_copy(update={"verdict": verdict or EXPECTED[name]})


RIGHT = [_of(name) for name in EXPECTED]


@pytest.mark.parametrize(
    ("victim", "stored", "exact"),
    [
        ("judge", RIGHT, True),
        ("judge", [*RIGHT, _of("new.cu", Verdict.INTERNAL_ERROR)], True),
        ("judge", RIGHT[1:], False),
        ("judge", [*RIGHT, RIGHT[0]], False),
        ("judge", [*RIGHT[:-1], _of("wrong.py", Verdict.ACCEPTED)], False),
        ("judge", [_of("built.cu", Verdict.RUNTIME_ERROR), *RIGHT[1:]], False),
        ("runner", [_of("built.cu", Verdict.RUNTIME_ERROR), *RIGHT[1:]], True),
        ("runner", [_of(name, Verdict.RUNTIME_ERROR) for name in EXPECTED], False),
        ("template", [_of("right.py", Verdict.RUNTIME_ERROR), *RIGHT[:2], RIGHT[3]], False),
    ],
)
def test_what_is_exact(victim: str, stored: list[Result], exact: bool) -> None:
    assert is_exact(Attempt("sqlite", victim, after_first=True), stored) == exact


def test_a_torn_line_is_no_acknowledgement(tmp_path: Path) -> None:
    output = tmp_path / "lines.json"
    lines = [each.to_json() for each in RIGHT]
    output.write_text("\n".join(lines)[:-5])
    assert [each.id for each in acknowledged(output)] == [each.id for each in RIGHT[:-1]]
