"""What is made: docs/reference.md, docs/reference/protocol.md, the schemas of two records."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from harness.ci.report import PullRequestReport
from harness.cli import cli
from harness.records.result import Result
from leaderboard.columns import DESCRIBED
from tools import ROOT
from tools.reference import protocol
from tools.reference.json_schema import json_schema
from tools.reference.keys import Key, keys

PAGE = ROOT / "docs/reference.md"
SCHEMAS = ROOT / "docs"

_HEAD = """# Reference

Made from the code by `python -m tools.reference`; a test holds it up to date. What things mean
is told elsewhere: [problem-format.md](problem-format.md) for front matters,
[result.md](result.md) for results, whose JSON schema is [result.schema.json](result.schema.json).
"""

_KEYS = """## Front matter

*Required*: without it the file is refused. *To grade*: without it the problem can be shown, and
not graded. Where a key of a parameter is not one of all of them, its row says of which.
"""

_COLUMNS = """## Columns of a board

In CSV (`harness leaderboard --csv`) and JSON (`--json`), in this order; new ones will come at the
end. What is missing is an empty cell, and `null` in JSON.
"""

_COMMANDS = """## Commands

`harness COMMAND --help` says the same.
"""


def pages() -> dict[Path, str]:
    """The text of each file that is made."""
    made = {PAGE: reference(), protocol.PAGE: protocol.page()}
    for name, record in (("result", Result), ("pull-request", PullRequestReport)):
        schema = json.dumps(json_schema(record), indent=2) + "\n"
        made[SCHEMAS / f"{name}.schema.json"] = schema
    return made


def reference() -> str:
    """The page of tables."""
    return "\n".join([_HEAD, *_front_matter(), *_board(), *_readme_tables(), *_commands()])


def _front_matter() -> Iterator[str]:
    found = keys()
    yield _KEYS
    top = [key for key in found if key.path[0] != "parameters[]"]
    yield _table(("key", "value", "default", ""), [_row(key) for key in top])
    yield "### Of each parameter\n"
    inside = [key for key in found if key.path[0] == "parameters[]"]
    rows = [(_row(key)[0], _of(key), *_row(key)[1:]) for key in inside]
    yield _table(("key", "of", "value", "default", ""), rows)


def _row(key: Key) -> tuple[str, ...]:
    default = f"`{key.default}`" if key.default else ""
    return (f"`{key.name}`", key.value, default, key.necessity)


def _of(key: Key) -> str:
    return "all" if len(key.roles) == 3 else ", ".join(key.roles)


def _board() -> Iterator[str]:
    yield _COLUMNS
    rows = [(f"`{name}`", column.kind, column.meaning) for name, column in DESCRIBED.items()]
    yield _table(("column", "type", "holds"), rows)


def _readme_tables() -> Iterator[str]:
    """Verdicts and exit codes as README has them, which tests hold against the code."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for title, first in (("Verdicts", "verdict"), ("Exit codes", "exit code")):
        found = re.search(rf"^\| {first} \|.*?(?=^$)", text, re.MULTILINE | re.DOTALL)
        assert found is not None
        yield f"## {title}\n\n{found[0]}"


def _commands() -> Iterator[str]:
    yield _COMMANDS
    for name, command in _below(cli, "harness"):
        context = click.Context(command, info_name=name)
        usage = " ".join([name, *command.collect_usage_pieces(context)])
        about = (command.help or "").split("\n\n")[0].replace("\n", " ")
        yield f"### `{name}`\n\n```\n{usage}\n```\n\n{about}\n"
        rows = [_option(each) for each in command.params if isinstance(each, click.Option)]
        if rows:
            yield _table(("option", "meaning"), rows)


def _below(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        if command.invoke_without_command:
            yield name, command
        for below, child in sorted(command.commands.items()):
            yield from _below(child, f"{name} {below}")
    else:
        yield name, command


def _option(option: click.Option) -> tuple[str, str]:
    names = "/".join([", ".join(option.opts), *option.secondary_opts])
    value = "" if option.is_flag else f" {option.make_metavar(click.Context(cli))}"
    more = f" [{option.default}]" if option.show_default and option.default is not None else ""
    variable = f" (`{option.envvar}`)" if option.envvar else ""
    return f"`{names}{value}`", f"{option.help}{more}{variable}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(_cell(each) for each in line) + " |\n" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
