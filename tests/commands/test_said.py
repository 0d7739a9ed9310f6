"""What a slip of the hand is told, and the exit code."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import MAIN, ROOT
from support.corpus import rest_in_corpus


def harness(
    *words: str, folder: Path, store: str | None = None
) -> subprocess.CompletedProcess[str]:
    """``harness WORDS`` in ``folder``."""
    places = {} if store is None else {"HARNESS_STORE": store}
    return subprocess.run(
        [sys.executable, "-c", MAIN, *words],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "HOME": str(folder), "PATH": "/usr/bin:/bin", **places},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("words", "said"),
    rest_in_corpus(
        [
            (
                "run k.cu",
                "No such command 'run': harness check FILE gives a verdict, harness submit",
            ),
            ("grade k.cu", "harness check FILE gives a verdict"),
            ("Test k.cu", "harness check FILE gives a verdict"),
            ("ls", "harness problems"),
            ("rank", "harness leaderboard"),
            ("serve", "harness site --out DIR"),
            ("chekc k.cu", "Did you mean 'check'?"),
            ("problems lst", "Did you mean 'list'?"),
            ("check k.cu --author Ada\\ Lovelace", "--author 'Ada Lovelace': no name that can be"),
            ("submit k.cu --author=", "--author '': no name that can be recorded"),
            (
                "check k.cu --seed hello",
                "--seed 'hello': a number, or the seed that a result names",
            ),
            ("verify --seed -1", "--seed '-1': a number"),
            ("check k.cpp --problem vector-add", "if it is CUDA C++, rename it to .cu"),
            ("check k.CU --problem vector-add", "rename it to .cu"),
            ("submit k.ipynb --problem vector-add", "save the code of a notebook as .py"),
            (
                "check k.tar.gz --problem vector-add",
                "is compressed; unpack it and submit what is in",
            ),
        ],
        always=4,
    ),
)
def test_a_slip_is_usage(words: str, said: str, tmp_path: Path) -> None:
    for name in ("k.cu", "k.cpp", "k.CU", "k.ipynb"):
        (tmp_path / name).write_text("x")
    (tmp_path / "k.tar.gz").write_bytes(b"\x1f\x8b\x08")
    split = [word.replace("\\", " ") for word in words.replace("\\ ", "\\").split(" ")]
    done = harness(*split, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert said in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("option", "variable", "said"),
    rest_in_corpus(
        [
            ("broken.db", "other.db", "(named by --store)"),
            (None, "broken.db", "(named by HARNESS_STORE)"),
            (None, None, "(the default one; --store or HARNESS_STORE names another)"),
        ]
    ),
)
def test_which_store_is_meant(
    option: str | None, variable: str | None, said: str, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.db"
    if option is None and variable is None:
        broken = tmp_path / ".local/share/kernel-harness/results.sqlite"
        broken.parent.mkdir(parents=True)
    broken.write_text("no data base at all, but long enough to be taken for one")
    words = ["--store", option] if option else []
    for command in ("leaderboard", "export"):
        done = harness(command, *words, folder=tmp_path, store=variable)
        assert done.returncode == 3
        assert said in done.stderr


def test_which_store_is_not_there(tmp_path: Path) -> None:
    done = harness("leaderboard", "--store", "typo.db", folder=tmp_path)
    assert done.returncode == 0
    assert "typo.db: no such file, so nothing is recorded (named by --store)" in done.stderr


@pytest.mark.parametrize("group", ["", "submissions", "new", "formats", "problems"])
def test_what_a_command_does_is_said_in_a_whole_line(group: str, tmp_path: Path) -> None:
    done = harness(*group.split(), "--help", folder=tmp_path)
    _, found, commands = done.stdout.partition("\nCommands:\n")
    assert (done.returncode, bool(found)) == (0, True)
    assert "..." not in commands
