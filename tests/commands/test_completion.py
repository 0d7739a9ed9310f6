"""Completion: the shell's own protocol, and in bash if there is one."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import cli
from harness.records.result import Verdict
from harness.sandbox import selftest

ROOT = Path(__file__).parents[2]
PROGRAM = "from harness.cli import main; main()"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with problems of its own, where a newcomer stands."""
    for name, slug in (("alpha", "alpha"), ("folder", "alias"), ("b c", ""), ("no-problem", None)):
        folder = tmp_path / "problems" / name
        folder.mkdir(parents=True)
        if slug is not None:
            text = f'---\nslug: "{slug}"\n' if slug else "no front matter"
            (folder / "problem.md").write_text(text)
    return tmp_path


Offered = Callable[..., list[str]]


@pytest.fixture
def offered(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Offered:
    """What is offered for the last word of a line, as the shell is told."""
    monkeypatch.chdir(place)
    monkeypatch.setattr(sys, "argv", ["harness"])

    def offered(line: str, shell: str = "bash", **variables: str) -> list[str]:
        words = line.split(" ")
        asked = {
            "_HARNESS_COMPLETE": f"{shell}_complete",
            "COMP_WORDS": line,
            "COMP_CWORD": words[-1] if shell == "fish" else str(len(words) - 1),
        }
        capfd.readouterr()
        with pytest.MonkeyPatch.context() as patch:
            for name, said in _environment(place, **asked, **variables).items():
                patch.setenv(name, said)
            with pytest.raises(SystemExit):
                cli.main()
        out, err = capfd.readouterr()
        assert err == ""
        lines = [each for each in out.splitlines() if each]
        return [each.removeprefix("plain,") for each in lines] if shell == "bash" else lines

    return offered


def _environment(place: Path, **variables: str) -> dict[str, str]:
    own = {"PYTHONPATH": str(ROOT)}
    inherited = {name: said for name, said in os.environ.items() if name != "HARNESS_PROBLEMS"}
    return {**inherited, **own, **variables}


@pytest.mark.parametrize(
    "line",
    [
        "harness problems show ",
        "harness init ",
        "harness leaderboard ",
        "harness export ",
        "harness verify ",
        "harness regrade alias ",
        "harness submit x.cu --problem ",
        "harness check --problem ",
        "harness compare a.cu b.cu --problem ",
        "harness submissions list --problem ",
    ],
)
def test_slugs_of_the_current_folder_are_offered(offered: Offered, line: str) -> None:
    assert offered(line) == ["alpha", "alias"]
    assert offered(line + "ali") == ["alias"]


def test_slugs_of_a_named_folder_are_offered(offered: Offered) -> None:
    here = f"harness problems --problems {ROOT}/problems show soft"
    assert offered(here) == ["softmax"]
    assert offered("harness init soft", HARNESS_PROBLEMS=f"{ROOT}/problems") == ["softmax"]
    assert offered("harness init --problems /none s") == []


def test_completion_does_not_try_the_sandbox(
    offered: Offered, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a sandbox is demanded, it is not tried at every key."""
    monkeypatch.setattr(selftest, "breaches", lambda: pytest.fail("it was tried"))
    demanded = {"HARNESS_REQUIRE_SANDBOX": "1", "PATH": "/nowhere"}
    assert offered("harness check --problem al", **demanded) == ["alpha", "alias"]


def test_verdicts_and_data_types_are_offered(offered: Offered) -> None:
    assert offered("harness subm") == ["submit", "submissions"][::-1]
    assert offered("harness submissions list --verdict ") == list(Verdict)
    assert offered("harness submissions list --verdict acc") == ["ACCEPTED"]
    assert offered("harness check --dtype bf") == ["bfloat16"]
    assert offered("harness check --wa") == ["--watch"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_each_shell(place: Path, shell: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "completion", shell],
        env=_environment(place, PATH="/nowhere"),
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"_HARNESS_COMPLETE={shell}_complete" in done.stdout
    assert done.stderr == ""


def test_the_script_works_in_bash(place: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash here")
    program = place / "bin" / "harness"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c '{PROGRAM}' \"$@\"\n")
    program.chmod(0o755)
    script = """
        eval "$(harness completion bash)"
        complete -p harness
        COMP_WORDS=(harness problems show al) COMP_CWORD=3
        _harness_completion harness
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    done = subprocess.run(
        [bash, "--norc", "-c", script],
        cwd=place,
        env=_environment(place, PATH=f"{program.parent}:{os.environ['PATH']}"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    registered, *replies = done.stdout.splitlines()
    assert registered.endswith("-F _harness_completion harness")
    assert replies == ["alpha", "alias"]
