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
from harness.languages.build.toolchain import NvccNotFound, find_nvcc
from harness.records.result import Verdict
from harness.timing.budget import CPU_BUDGET, TimingBudget
from leaderboard.board import COLUMNS

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
DOCUMENTS = [
    README,
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    ROOT / "leaderboard/boards/README.md",
    *sorted(ROOT.glob("docs/**/*.md")),
]
RESULT = ROOT / "docs/reference/result.md"
REFERENCE = ROOT / "docs/reference/reference.md"
CODE = [
    path
    for folder in ("harness", "leaderboard", "tools", "benchmarks")
    for path in sorted((ROOT / folder).rglob("*.py"))
]
SETUP = {"make demo", "make test", ". .venv/bin/activate"}  # not run here: see test_makefile_…
COMMAND_SECONDS = 900


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


SECONDS = r"\d+(?:\.\d+)? (?:µs|ms|s)\b"
PASSED = r"\d+ passed"
VERSION = r"\d+\.\d+\.\d+"
ID = r"^[0-9a-f]{8}\b"
DATE = r"\d{4}-\d\d-\d\d"
DIFFERS = {
    "harness doctor": (VERSION,),
    "harness check": (SECONDS, PASSED),
    "harness submit": (SECONDS, PASSED),
    "harness submissions list": (ID, DATE),
    "harness verify": (SECONDS,),
}
"""What differs from run to run, by the command that prints it; all else must be as README shows it.

Commands without a seed draw a number of cases of their own.
"""


def _printed(shown: list[str], differs: Iterable[str]) -> re.Pattern[str]:
    """What ``shown`` stands for.

    ``…`` is any text, of any number of lines; what ``differs`` is any other of its kind.
    """
    kinds = "|".join(f"({kind})" for kind in (*differs, " *…"))
    patterns = (*differs, ".*?")
    found = ""
    end = 0
    text = "\n".join(line.rstrip() for line in shown).strip("\n")
    for match in re.finditer(kinds, text, re.MULTILINE):
        assert match.lastindex is not None
        found += re.escape(text[end : match.start()]) + f"(?:{patterns[match.lastindex - 1]})"
        end = match.end()
    return re.compile(found + re.escape(text[end:]), re.MULTILINE | re.DOTALL)


def _differs(command: str) -> tuple[str, ...]:
    return next((kinds for name, kinds in DIFFERS.items() if command.startswith(name)), ())


@pytest.mark.corpus
def test_every_command_of_the_readme_prints_what_is_shown(tmp_path: Path) -> None:
    """In order and in one copy of the tree, since later ones build on earlier ones.

    README shows a machine with nvcc and without a GPU: one that is there is hidden. Without nvcc
    only statuses and verdicts are compared.
    """
    shutil.copytree(ROOT / "solutions", tmp_path / "solutions")
    shutil.copytree(ROOT / "leaderboard/boards", tmp_path / "leaderboard/boards")
    commands = [shown for shown in _shown(README) if shown.line not in SETUP]
    assert len(commands) >= 8
    environment = {**_newcomer(tmp_path), "CUDA_VISIBLE_DEVICES": ""}
    nvcc = _has_nvcc()
    for shown in commands:
        printed = "\n".join(line.rstrip() for line in _follow(shown, tmp_path, environment))
        if shown.output and nvcc:
            expected = _printed(shown.output, _differs(shown.line))
            assert expected.fullmatch(printed.strip("\n")), f"$ {shown.line}\n{printed}"


def _has_nvcc() -> bool:
    try:
        find_nvcc()
    except NvccNotFound:
        return False
    return True


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("built  in 1.08 s for cpu", "built  in 973 ms for cpu", True),
        ("built  in 1.08 s for cpu", "built  in 1.08 s for gpu", False),
        ("first  [0]  -5  nan", "first  [0]  -4  nan", False),
        ("cases  33 passed", "cases  38 passed", True),
        ("cases  33 passed", "cases  1 of 33 failed", False),
        ("cpu …\nscore  none", "cpu (a very\nlong name)\nscore  none", True),
        ("a\n…\nd", "a\nb\nc\nd", True),
        ("a\n…\nd", "a\nb\nc\nd\ne", False),
        ("a", "a\nb", False),
    ],
)
def test_what_is_shown_is_compared_but_for_what_differs(
    shown: str, printed: str, same: bool
) -> None:
    pattern = _printed(shown.splitlines(), DIFFERS["harness check"])
    assert bool(pattern.fullmatch(printed)) is same


@pytest.mark.corpus
@pytest.mark.parametrize("name", TUTORIALS)
def test_tutorials_lead_where_they_say(name: str, tmp_path: Path) -> None:
    """Commands in order; a file that is shown is written, as its first line says."""
    environment = _newcomer(tmp_path)
    written = set()
    for language, text in STEPS.findall(
        (ROOT / "docs/tutorials" / name).read_text(encoding="utf-8")
    ):
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
    environment["COLUMNS"] = "80"  # as a terminal has
    return environment


def _follow(shown: Shown, place: Path, environment: dict[str, str]) -> list[str]:
    """Run one command; its status and its verdicts must be those that are shown.

    Returns the lines that it printed, on stderr as well.
    """
    done = subprocess.run(
        ["bash", "-c", shown.line],
        cwd=place,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=COMMAND_SECONDS,
        check=False,
    )
    told = f"$ {shown.line}\n{done.stdout}"
    assert done.returncode == shown.status, told
    printed = done.stdout.splitlines()
    assert _verdicts(printed) == _verdicts(shown.output), told
    return printed


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


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
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


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
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


@pytest.mark.parametrize("path", CODE, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_and_modules_that_code_names_are_there(path: Path) -> None:
    text = path.read_text("utf-8")
    for page in re.findall(r"\bdocs/[\w/-]+\.md\b", text):
        assert (ROOT / page).is_file(), page
    for name in re.findall(r":\w+:`~?((?:harness|leaderboard)\.[\w.]+)`", text):
        module, names = _module(name.split("."))
        words = set(re.findall(r"\w+", module.read_text("utf-8")))
        assert words.issuperset(names), name


def _module(parts: list[str]) -> tuple[Path, list[str]]:
    """The file that the first parts of a dotted name lead to, and the parts that are left."""
    for count in range(len(parts), 0, -1):
        place = ROOT.joinpath(*parts[:count])
        for file in (place.with_suffix(".py"), place / "__init__.py"):
            if file.is_file():
                return file, parts[count:]
    raise AssertionError(f"no module {'.'.join(parts)}")


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
    assert list(_table(RESULT, "verdict")) == list(Verdict)


def test_the_documented_exit_codes_are_those_of_the_code() -> None:
    documented = {int(code) for code in _table(REFERENCE, "exit code")}
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


def test_the_documented_csv_columns_are_those_of_the_board() -> None:
    section = REFERENCE.read_text(encoding="utf-8").split("## Columns of a board")[1].split("##")[0]
    assert re.findall(r"^- `(\w+)` \(", section, re.MULTILINE) == list(COLUMNS)


def test_the_documented_budget_is_that_of_the_code() -> None:
    table = _table(ROOT / "docs/explanation/measurement.md", "setting")
    gpu, cpu = asdict(TimingBudget()), asdict(CPU_BUDGET)
    assert list(table) and set(table) == set(gpu)
    for name, cells in table.items():
        assert [float(cells[0]), float(cells[1])] == [gpu[name], cpu[name]], name


def test_the_documented_quick_budget_is_that_of_the_code() -> None:
    text = " ".join((ROOT / "docs/explanation/measurement.md").read_text(encoding="utf-8").split())
    listed = re.search(
        r"`submit --quick` is for many files on a GPU: ([^:]+)\. Nothing else differs", text
    )
    assert listed is not None
    documented = {
        name: float(value) for name, value in re.findall(r"`(\w+)` (\d+(?:\.\d+)?)", listed[1])
    }
    assert len(documented) == listed[1].count("`") // 2
    assert asdict(TimingBudget().quick()) == asdict(TimingBudget()) | documented
    assert all(value != asdict(TimingBudget())[name] for name, value in documented.items())


def test_the_documented_rough_budget_is_that_of_the_code() -> None:
    text = " ".join((ROOT / "docs/explanation/measurement.md").read_text(encoding="utf-8").split())
    listed = re.search(r"`--effort verdict` takes .*? as `--quick`, but ([^;]+); nor", text)
    assert listed is not None
    documented = {
        name: float(value) for name, value in re.findall(r"`(\w+)` (\d+(?:\.\d+)?)", listed[1])
    }
    assert len(documented) == listed[1].count("`") // 2
    quick = asdict(TimingBudget().quick())
    assert asdict(TimingBudget().rough()) == quick | documented
    assert all(value != quick[name] for name, value in documented.items())


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
