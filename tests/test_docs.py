"""What the documents say is so: commands run, links lead somewhere, tables equal the code."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from harness import cli
from harness.errors import MachineError, NoDeviceError, ProblemError, UsageError
from harness.records.result import Verdict
from harness.timing.budget import CPU_BUDGET, TimingBudget
from leaderboard.columns import COLUMNS

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
DOCUMENTS = [
    README,
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted(ROOT.glob("docs/**/*.md")),
]
SETUP = {"make demo", "make test", ". .venv/bin/activate"}  # not run here: see test_makefile_…
COMMAND_SECONDS = 120


class Shown(NamedTuple):
    """A command of a document, the output printed below it, the exit status it is said to have."""

    line: str
    output: list[str]
    status: int


def _blocks(path: Path, *languages: str) -> Iterator[list[str]]:
    text = path.read_text(encoding="utf-8")
    for match in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if match[1] in languages:
            yield match[2].splitlines()


def _shown(path: Path) -> list[Shown]:
    """The commands of a document, in order."""
    return _in_order(_blocks(path, "console", "bash"))


def _in_order(blocks: Iterable[list[str]]) -> list[Shown]:
    """The commands of blocks, in order; `echo $?` tells the status of the one before it."""
    found: list[Shown] = []
    for block in blocks:
        for line in block:
            if line.startswith("$ "):
                found.append(Shown(line.removeprefix("$ "), [], 0))
            elif found:
                found[-1].output.append(line)
    merged: list[Shown] = []
    for command in found:
        if command.line == "echo $?":
            merged[-1] = merged[-1]._replace(status=int(command.output[0]))
        else:
            merged.append(command)
    return merged


def _verdicts(lines: list[str]) -> list[str]:
    return [word for line in lines for word in line.split()[:1] if word in set(Verdict)]


TUTORIALS = {
    "tutorial.md": "solutions/*/*/*.py",
    "writing-problems.md": "problems/scaled-add/**/*.*",
}
"""Documents to be followed, and what they lead to."""

STEPS = re.compile(r"^```(python|cpp|markdown|console|bash)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"(?:# |// |<!-- )(\S+/\S+)(?: -->)?")
"""The first line of a file that is shown."""


@pytest.mark.corpus
def test_every_command_of_the_readme_runs(tmp_path: Path) -> None:
    """In order and in one copy of the tree, since later ones build on earlier ones."""
    shutil.copytree(ROOT / "solutions", tmp_path / "solutions")
    commands = [shown for shown in _shown(README) if shown.line not in SETUP]
    assert len(commands) >= 8
    environment = _newcomer(tmp_path)
    for shown in commands:
        _follow(shown, tmp_path, environment)


@pytest.mark.corpus
@pytest.mark.parametrize("name", TUTORIALS)
def test_tutorials_lead_where_they_say(name: str, tmp_path: Path) -> None:
    """Commands in order; a file that is shown is written, as its first line says."""
    environment = _newcomer(tmp_path)
    written = set()
    for language, text in STEPS.findall((ROOT / "docs" / name).read_text(encoding="utf-8")):
        if language not in ("console", "bash"):
            first, _, source = text.partition("\n")
            file = NAMED.fullmatch(first)
            assert file is not None, first
            written.add(tmp_path / file[1])
            (tmp_path / file[1]).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / file[1]).write_text(source, encoding="utf-8")
            continue
        for shown in _in_order([text.splitlines()]):
            if shown.line not in SETUP:
                _follow(shown, tmp_path, environment)
    there = {file for file in tmp_path.glob(TUTORIALS[name]) if "__pycache__" not in file.parts}
    assert written == there


def _newcomer(place: Path) -> dict[str, str]:
    """Who has just installed the harness, and stands in ``place`` with its problems."""
    shutil.copytree(ROOT / "problems", place / "problems")
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "HARNESS_STORE": str(place / "store.sqlite"),
        "HARNESS_CACHE": str(place / "cache"),
        "PYTHONPATH": str(ROOT),
    }
    for name in ("HARNESS_PROBLEMS", "FORCE_COLOR"):
        environment.pop(name, None)
    return environment


def _follow(shown: Shown, place: Path, environment: dict[str, str]) -> None:
    """Run one command: its status and its verdicts must be those that are shown."""
    done = subprocess.run(
        ["bash", "-c", shown.line],
        cwd=place,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS,
        check=False,
    )
    told = f"$ {shown.line}\n{done.stdout}\n{done.stderr}"
    assert done.returncode == shown.status, told
    assert _verdicts(done.stdout.splitlines()) == _verdicts(shown.output), told


def _parse(line: str) -> None:
    """Parse one `harness …` command without running it; raises click's own errors."""
    words = shlex.split(line)
    with cli.cli.make_context("harness", words[1:]) as top:
        name, command, rest = cli.cli.resolve_command(top, [*top._protected_args, *top.args])
        assert command is not None
        with command.make_context(name, rest, parent=top):
            pass


def _harness_commands(lines: list[str]) -> list[str]:
    """The `harness …` parts of shell lines, up to the first operator."""
    found = []
    for line in lines:
        match = re.match(r"(?:\S*/)?harness\s+(.*?)(?:\s*(?:\|\||&&|;|\||>).*)?$", line.strip())
        if match:
            found.append(f"harness {match[1]}")
    return found


def test_makefile_has_the_two_commands_and_their_harness_commands_parse() -> None:
    assert {line for line in SETUP if line.startswith("make")} <= {c.line for c in _shown(README)}
    commands: dict[str, list[str]] = {}
    for target in ("demo", "test"):
        dry = subprocess.run(
            ["make", "--dry-run", "--always-make", target],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        commands[target] = _harness_commands(dry.stdout.splitlines())
    assert [command.split()[1] for command in commands["demo"]] == ["submit", "site", "leaderboard"]
    for command in commands["demo"]:
        _parse(command)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_commands_in_documents_parse(path: Path) -> None:
    shown = [line for block in _blocks(path, "console", "bash") for line in block]
    lines = [line.removeprefix("$ ") for line in shown if line.startswith("$ ")]
    for command in _harness_commands(lines):
        _parse(command)
    text = path.read_text(encoding="utf-8")
    for script in re.findall(r"\b(?:scripts|tests|tools|benchmarks)/[\w./]+\b", text):
        assert (ROOT / script).exists(), script
    for module in re.findall(r"python -m ((?:tools|benchmarks)[\w.]*)", text):
        place = ROOT / module.replace(".", "/")
        assert (place / "__main__.py").exists() or place.with_suffix(".py").exists(), module


def test_a_command_that_does_not_parse_is_noticed() -> None:
    with pytest.raises(click.UsageError):
        _parse("harness submit --no-such-option x.cu")
    with pytest.raises(click.UsageError):
        _parse("harness nothing")
    piped = ["a/bin/harness check f.cu --json - | head -1", "harness leaderboard || true"]
    assert _harness_commands(piped) == ["harness check f.cu --json -", "harness leaderboard"]


def _anchor(heading: str) -> str:
    """As GitHub makes them."""
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return kept.replace(" ", "-")


def _anchors(path: Path) -> set[str]:
    text = re.sub(r"^```.*?^```$", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return {_anchor(match[1]) for match in re.finditer(r"^#+ (.+)$", text, re.MULTILINE)}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_relative_links_lead_somewhere(path: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`\n]*`", "", text)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"\w+:", target):
            continue
        name, _, anchor = target.partition("#")
        linked = (path.parent / name).resolve() if name else path
        assert linked.exists(), f"{path.name}: {target}"
        if anchor:
            assert anchor in _anchors(linked), f"{path.name}: {target}"


def test_every_document_is_reachable_from_the_readme() -> None:
    seen: set[Path] = set()
    queue = [README]
    while queue:
        path = queue.pop()
        if path in seen or path.suffix != ".md" or not path.exists():
            continue
        seen.add(path)
        targets = re.findall(r"\]\(([^)#\s:]+)", path.read_text(encoding="utf-8"))
        queue += [(path.parent / target).resolve() for target in targets]
    assert {path.resolve() for path in DOCUMENTS} <= seen


def _table(path: Path, first: str) -> dict[str, list[str]]:
    """Rows by their first cell, of the tables whose first column is headed ``first``."""
    rows: dict[str, list[str]] = {}
    inside = False
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            inside = False
            continue
        cells = [cell.strip().replace("`", "") for cell in line.strip("|").split("|")]
        if cells[0] == first:
            inside = True
        elif inside and not set(cells[0]) <= set("-: "):
            rows.setdefault(cells[0], cells[1:])
    return rows


def test_the_documented_verdicts_are_those_of_the_code() -> None:
    assert list(_table(README, "verdict")) == list(Verdict)
    assert set(Verdict) <= set(_table(ROOT / "docs/result.md", "verdict"))


def test_the_documented_exit_codes_are_those_of_the_code() -> None:
    documented = {int(code) for code in _table(README, "exit code")}
    raised = {error.exit_code for error in (UsageError, ProblemError, MachineError, NoDeviceError)}
    # Click's own usage errors must not differ from ours.
    raised |= {click.UsageError.exit_code, cli._INTERNAL, cli._INTERRUPTED}
    assert documented == {0, 1} | raised
    help_text = cli.cli.help or ""
    assert {int(code) for code in re.findall(r"\b(\d+) \w", help_text.split("codes:")[1])} == (
        documented
    )


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["--help"], 0),
        (["check", "no/such/file.cu"], 2),
        (["check"], 2),
        (["frobnicate"], 2),
    ],
)
def test_exit_codes_of_commands_that_judge_nothing(arguments: list[str], status: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from harness.cli import main; main()", *arguments],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    assert done.returncode == status


def test_the_csv_columns_of_the_readme_are_those_of_the_board() -> None:
    text = " ".join(README.read_text(encoding="utf-8").split())
    listed = re.search(r"with the columns `([^`]+)`", text)
    assert listed is not None
    assert listed[1].split(", ") == list(COLUMNS)


# What the page calls settings of which the code has not the new names.
SETTINGS = {
    "blank_s": "max_null_s",
    "block_s": "max_block_s",
    "short_s": "min_batch_s",
    "tight": "target_rel_ci",
    "wide": "extend_rel_ci",
    "rankable": "max_ranked_rel_ci",
    "rankable_shape": "max_ranked_shape_rel_ci",
    "patience_s": "max_s",
    "min_isolated": "min_isolated",
    "isolated_blocks": "isolated_blocks",
    "isolated_s": "isolated_s",
}


def _settings(effort: TimingBudget) -> dict[str, float]:
    return {SETTINGS.get(name, name): value for name, value in asdict(effort).items()}


def test_the_documented_effort_is_that_of_the_code() -> None:
    table = _table(ROOT / "docs/explanation/measurement.md", "setting")
    gpu, cpu = _settings(TimingBudget()), _settings(CPU_BUDGET)
    assert list(table) and set(table) == set(gpu)
    for name, cells in table.items():
        assert [float(cells[0]), float(cells[1])] == [gpu[name], cpu[name]], name


def test_the_documented_quick_effort_is_that_of_the_code() -> None:
    text = " ".join((ROOT / "docs/explanation/measurement.md").read_text(encoding="utf-8").split())
    listed = re.search(
        r"`submit --quick` is for many files on a GPU: ([^:]+)\. Nothing else differs", text
    )
    assert listed is not None
    documented = {
        name: float(value) for name, value in re.findall(r"`(\w+)` (\d+(?:\.\d+)?)", listed[1])
    }
    assert len(documented) == listed[1].count("`") // 2
    assert _settings(TimingBudget().quick()) == _settings(TimingBudget()) | documented
    assert all(value != _settings(TimingBudget())[name] for name, value in documented.items())


def _commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        for name, child in command.commands.items():
            yield from _commands(child, f"{path} {name}")


COMMANDS = dict(_commands(cli.cli, "harness"))


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_and_option_has_help(path: str) -> None:
    command = COMMANDS[path]
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{path} {'/'.join(parameter.opts)}"


def test_every_command_is_in_the_readme() -> None:
    text = README.read_text(encoding="utf-8")
    assert [path for path in COMMANDS if path not in text] == []
