"""``--card`` and ``--cards`` from the command line, on made-up cards."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.made_up_cards import FAKE, PROGRAM
from support.running import HANGS_S, ROOT, Command

from harness.cli import cli
from harness.commands import grading
from harness.device import cards
from harness.device.cards import Card
from harness.errors import JudgeError
from leaderboard.store import Store

GRADING = ("submit", "check", "compare", "regrade", "verify", "ci")
SEVERAL = ("submit", "check", "regrade", "verify")
SAMPLES = ROOT / "solutions/vector-add/samples"
SLEEPER = "import time\n\ndef solution(x, y, z, n):\n    time.sleep(25)\n"


@pytest.mark.parametrize("command", GRADING)
def test_all_commands_that_grade_take_a_card(command: str) -> None:
    said = CliRunner().invoke(cli, [command, "--help"]).output
    assert "--card N|UUID" in said
    assert ("--cards all|N,N" in said) == (command in SEVERAL)


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> list[Card]:
    found = [Card(n, f"GPU-{n}abc", f"0000:1{n}:00.0", "Made-up 100") for n in range(2)]
    monkeypatch.setattr(cards, "visible_cards", lambda *_: found)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,7")
    return found


@pytest.mark.parametrize("wanted", ["1", "GPU-1abc", "1ab"])
def test_a_card_is_the_only_one_that_this_process_sees(
    two: list[Card], wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grading, "Tally", lambda *_: 1 / 0)  # so far, and no further
    CliRunner().invoke(cli, ["check", "--card", wanted, str(SAMPLES / "naive.cu")])
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "GPU-1abc"


def _error(*words: str) -> JudgeError:
    error = CliRunner().invoke(cli, [*words]).exception
    assert isinstance(error, JudgeError), error
    return error


def test_what_cannot_be_is_refused(two: list[Card], monkeypatch: pytest.MonkeyPatch) -> None:
    file = str(SAMPLES / "naive.cu")
    assert "there are 0 (GPU-0abc" in str(_error("check", file, "--card", "2"))
    assert "there are 0 (GPU-0abc" in str(_error("check", file, "--cards", "0,2"))
    assert "one of them" in str(_error("check", file, "--cards", "all", "--card", "0"))
    assert "--device cpu uses none" in str(_error("check", file, "--cards", "0", "--device", "cpu"))
    assert "--device cpu uses none" in str(_error("check", file, "--card", "0", "--device", "cpu"))
    monkeypatch.setattr(cards, "visible_cards", lambda *_: [])
    for option in ("--card", "--cards"):
        assert _error("check", file, option, "0").exit_code == 4
    monkeypatch.setattr(
        cards, "visible_cards", lambda *_: [two[0], two[1]._replace(name="Made-up 200")]
    )
    assert "1 is Made-up 200" in str(_error("check", file, "--cards", "all"))


def _run(folder: Path, program: str, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=folder,
        env={**os.environ, "FAKE_PLACE": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def _files(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / "solutions/vector-add/me" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((SAMPLES / "naive.cu").read_text() + f"// {name}\n")


@pytest.mark.corpus
def test_a_folder_on_two_cards_is_recorded_in_one_store(tmp_path: Path) -> None:
    _files(tmp_path, *(f"{number}.cu" for number in range(6)))
    done = _run(
        tmp_path, FAKE, "submit", "solutions", "--cards", "0,1", "--store", "here.sqlite",
        "--problems", str(ROOT / "problems"), "--json", "results.jsonl",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == "6 files: 6 ACCEPTED"
    written = [json.loads(line)["id"] for line in (tmp_path / "results.jsonl").open()]
    with Store.open(str(tmp_path / "here.sqlite")) as store:
        assert sorted(each.id for each in store.results()) == sorted(written)
    assert len(set(written)) == 6
    again = _run(
        tmp_path, FAKE, "regrade", "--all", "--cards", "0,1", "--store", "here.sqlite",
        "--problems", str(ROOT / "problems"),
    )  # fmt: skip
    assert again.returncode == 0, again.stderr
    assert again.stdout.splitlines()[-1] == "6 regraded (6 ACCEPTED), 0 skipped"


@pytest.mark.corpus
def test_a_card_that_fails_is_named_and_what_is_lost_counts(tmp_path: Path) -> None:
    _files(tmp_path, "a.cu", "b.cu")
    done = _run(
        tmp_path, FAKE.replace("MADE_UP_CARD", "FAKE_CARD").replace('f"GPU-{n}a"', '"deaf"'),
        "check", "solutions", "--cards", "0", "--problems", str(ROOT / "problems"),
    )  # fmt: skip
    assert done.returncode == 3
    assert "note: card 0 is left out, as its judge failed twice: no context" in done.stderr
    assert "error: no card is left; card 0: no context" in done.stderr


@pytest.mark.corpus
def test_verdicts_are_those_of_one_judge(tmp_path: Path) -> None:
    wrong = sorted((ROOT / "problems/vector-add/examples/wrong_answer").glob("*.cu"))[0]
    _files(tmp_path, "right.cu", "again.cu")
    (tmp_path / "solutions/vector-add/me/wrong.cu").write_text(wrong.read_text())
    (tmp_path / "solutions/vector-add/me/broken.cu").write_text('extern "C" void solution(oops\n')
    words = ("check", "solutions", "--problems", str(ROOT / "problems"), "--no-shrink", "--json")
    several = _run(tmp_path, PROGRAM, *words, "several.jsonl", "--cards", "0,1")
    alone = _run(tmp_path, PROGRAM, *words, "alone.jsonl", "--device", "cpu")
    assert several.returncode == alone.returncode == 1
    assert several.stderr.splitlines()[1:] == alone.stderr.splitlines()[1:]
    found = []
    for name in ("several.jsonl", "alone.jsonl"):
        results = [json.loads(line) for line in (tmp_path / name).open()]
        found.append({r["solution"]["name"]: r["verdict"] for r in results})
    assert found[0] == found[1]
    assert sorted(found[0].values()).count("ACCEPTED") == 2


@pytest.mark.corpus
def test_packages_are_verified_on_two_cards(tmp_path: Path) -> None:
    words = ["vector-add", "softmax", "--no-impostors", "--no-examples", "--grades", "1", "--json"]
    words += ["--dtype", "float32", "--seed", "1", "--problems", str(ROOT / "problems")]
    found = []
    for chosen in (("--cards", "0,1"), ("--device", "cpu")):
        done = _run(tmp_path, PROGRAM, "verify", *words, *chosen)
        assert done.returncode == 0, done.stderr
        found.append(re.sub(r'"seconds": [\d.]+', "", done.stdout))
    assert found[0] == found[1]


def _sleeping(tmp_path: Path) -> Command:
    for name in ("one", "two", "three"):
        path = tmp_path / "solutions/vector-add/me" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SLEEPER + f"# {name}\n")
    command = Command(
        tmp_path, "check", "solutions", "--cards", "0,1", "--problems", str(ROOT / "problems"),
        program=PROGRAM,
    )  # fmt: skip
    command.wait_for(lambda: _asleep(command) >= 2 and len(command.below()) > 6)
    return command


def _asleep(command: Command) -> int:
    """How many runners have begun: they are in a sandbox, whose folder has their files."""
    return len(list(command.folder.glob("harness-*/sandbox-*")))


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)]
)
def test_nothing_is_left_of_a_command_that_is_ended(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    command = _sleeping(tmp_path)
    if number != signal.SIGKILL:
        assert command.end(number)[0] == code
        return
    below = command.below()
    command.process.kill()
    assert command.process.wait() == code
    until = time.monotonic() + HANGS_S
    while left := [pid for pid in below if Path(f"/proc/{pid}").exists()]:
        assert time.monotonic() < until, left
        time.sleep(0.05)
