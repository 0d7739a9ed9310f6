"""``-``: a submission on standard input."""

from pathlib import Path

import pytest
from support.commands import ROOT, in_shell, words
from support.corpus import rest_in_corpus

PACKAGES = ROOT / "tests/support/packages"
CHECK = ("--problem", "shift", "--problems", PACKAGES, "--device", "cpu")


@pytest.mark.parametrize(
    ("piped", "arguments", "status", "said"),
    rest_in_corpus(
        [
            ("code", ("check", "-", *CHECK), 2, "error: -: which language? submit and check take "),
            (
                "code",
                ("check", "-", *CHECK, "--language", "cobol"),
                2,
                "'cobol' is not one of 'cuda'",
            ),
            (
                "code",
                ("check", "a.py", *CHECK, "--language", "python"),
                2,
                "--language: for standard",
            ),
            ("code", ("check", "-", *CHECK, "--language", "cuda", "--watch"), 2, "is read once"),
            ("code", ("check", "-", "--language", "cuda"), 2, "-: which problem?"),
            ("", ("compare", "-", "-", *CHECK), 2, "-: which language?"),
        ],
        always=2,
    ),
)
def test_what_cannot_be(
    tmp_path: Path, piped: str, arguments: tuple[object, ...], status: int, said: str
) -> None:
    done = in_shell(f"printf '%s' '{piped}' | {words(*arguments)}", tmp_path)
    assert (done.returncode, said in done.stderr) == (status, True), done.stderr


def test_other_names_of_it_are_told_the_one(tmp_path: Path) -> None:
    done = in_shell(f"{words('check', '/dev/stdin')} < /dev/null", tmp_path)
    assert (done.returncode, "name it -" in done.stderr) == (2, True), done.stderr


@pytest.mark.corpus
def test_what_is_piped_is_graded_and_can_be_replayed(tmp_path: Path) -> None:
    wrong = "def solution(x, s, y, n): ..."
    check = words("check", "-", *CHECK, "--language", "python", "--author", "me")
    done = in_shell(f"printf '%s' '{wrong}' | {check}", tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("WRONG_ANSWER  shift · me/stdin · pytorch")
    replay = next(x for x in done.stdout.splitlines() if x.startswith("replay  "))
    assert "harness submit - --language pytorch --problem shift" in replay
    empty = in_shell(f"printf '' | {check}", tmp_path)
    assert (empty.returncode, "is empty" in empty.stdout) == (1, True)
