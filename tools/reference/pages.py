"""Make reference.md and protocol.md in docs/reference/, and the schemas of two records."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path

import click

from harness.ci.report import PullRequestReport
from harness.cli import cli
from harness.records.result import Result
from leaderboard.board import COLUMNS, BoardKey, BoardRow
from leaderboard.shapes import ShapeRow
from tools import ROOT
from tools.reference import protocol
from tools.reference.json_schema import described, json_schema
from tools.reference.keys import MAPPING, OPTIONAL, Key, keys
from tools.reference.markdown import listed, paragraph

FOLDER = ROOT / "docs/reference"

_HEAD = """# Reference

Made from the code by `python -m tools.reference`; a test holds it up to date. What keys mean:
[problem format](problem-format.md). Verdicts: [result](result.md).
"""

_KEYS = """## Front matter

*Required*: without it the file is refused. *To grade*: without it the problem can be shown, not
graded. Defaults are in brackets; several values mean one of them. `cpu_benchmarks` have the keys of
`benchmarks`, `sizes` those of parameters that are sizes but for `type`, `pointer` and `const`.

A *text* is any non-empty scalar, as written; a *flag* `true` or `false`, a *number* finite
(`1e-3`), both bare or quoted; an *expression* [arithmetic](problem-format.md#expressions) over
sizes and scalars.
"""

_COLUMNS = """## Columns of a board

Of `harness leaderboard --csv` and `--json`, in this order; new ones will come at the end. A missing
value is an empty cell, `null` in JSON.
"""

_SHAPES = """
## Columns of times by shape

Of `harness leaderboard --shapes` and the site's `shapes.csv`, a row for each timed shape of an
entry; new ones will come at the end.
"""

_EXIT_CODES = """## Exit codes

| exit code | meaning |
| --- | --- |
| 0 | everything was accepted |
| 1 | judged, and not all accepted; `regrade`: or one was skipped |
| 2 | usage: an unknown file, option, type, problem; a mistake in a problem; a file not judged |
| 3 | a fault of the harness or of the machine, or `--limit-s` was over first |
| 4 | no usable device |
| 130 | interrupted (SIGTERM: 143, SIGHUP: 129), or a question was not answered with yes |

A reader of stdout that stops (`| head`) changes no exit code: `submit`, `check`, `compare`,
`verify`, `regrade`, `ci` and `publish` say so and go on, other commands end with 0. Output that is
lost otherwise, as on a full disk, is 3.

## Files of results

A file that a command writes is replaced as a whole, at the end. Only `--json FILE` of `submit` and
`check` gets each result at once; what it held before goes when the first is there. With `--resume`
it keeps its whole lines and ends up with one for each file.

`harness export` writes a header, `{"export": {"results": 1000, "rulings": 30}}`, then so many
[records](result.md), one a line. `harness import` refuses a file with more or fewer, before
anything is imported. Exports one behind the other are one file; lines without a header (of `submit
--json`, of older exports) are taken as they are.
"""

_VARIABLES = """## Environment variables

Those that set an option are with the [option](#options-of-several-commands).

- `HARNESS_CACHE`: folder in which compiled submissions are kept
- `HARNESS_NVCC`, `HARNESS_CXX`: compilers to use
"""

_COMMANDS = """## Commands

As `harness COMMAND --help` prints them, which also says which shared options a command takes.
Defaults are in brackets, environment variables that set an option in parentheses.
"""


_SHARED = """### Options of several commands
"""


def pages() -> dict[Path, str]:
    """The text of each file that is made."""
    made = {FOLDER / "reference.md": reference(), protocol.PAGE: protocol.page()}
    for name, record in (("result", Result), ("pull-request", PullRequestReport)):
        schema = json.dumps(json_schema(record), indent=2) + "\n"
        made[FOLDER / f"{name}.schema.json"] = schema
    return made


def reference() -> str:
    """The page of tables."""
    return "\n".join([_HEAD, *_front_matter(), *_board(), _EXIT_CODES, _VARIABLES, *_commands()])


def _front_matter() -> Iterator[str]:
    found = [key for key in keys() if key.value != MAPPING or key.necessity != OPTIONAL]
    yield _KEYS
    inside = [key for key in found if key.path[0] == "parameters[]"]
    others = ("parameters[]", "sizes[]", "cpu_benchmarks[]")
    top = [key for key in found if key.path[0] not in others]
    yield listed(_rows(top, lambda key: [key.necessity]))
    yield "### Of each parameter\n"
    yield listed(_rows(inside, lambda key: [_of(key), key.necessity]))


def _rows(
    found: Iterable[Key], remarks: Callable[[Key], Iterable[str]]
) -> Iterator[tuple[str, str]]:
    """Keys in a row that differ in nothing but names and defaults are one row."""
    for (said, meaning), same in groupby(found, lambda key: (_remarks(remarks(key)), key.value)):
        yield ", ".join(f"`{key.name}`{_default(key)}" for key in same) + said, meaning


def _remarks(remarks: Iterable[str]) -> str:
    said = "; ".join(remark for remark in remarks if remark)
    return f" ({said})" if said else ""


def _default(key: Key) -> str:
    return f" [{key.default}]" if key.default else ""


def _of(key: Key) -> str:
    return "" if len(key.roles) == 3 else ", ".join(key.roles)


def _board() -> Iterator[str]:
    yield _COLUMNS
    meanings = {**dict(_meanings(BoardKey)), **dict(_meanings(BoardRow))}
    yield listed((f"`{name}` ({kind})", meanings[name]) for name, kind in COLUMNS.items())
    yield _SHAPES
    yield listed((f"`{name}`", meaning) for name, meaning in _meanings(ShapeRow))


def _meanings(record: type) -> Iterator[tuple[str, str]]:
    """What the fields of a record are, as a part of a sentence."""
    for name, text in described(record):
        first = text[0] if text[1].isupper() else text[0].lower()
        yield name, first + text[1:].rstrip(".")


def _commands() -> Iterator[str]:
    yield _COMMANDS
    found = dict(_below(cli, "harness"))
    shared = _shared(found.values())
    yield f"{_SHARED}\n{listed(shared.items())}"
    for name, command in found.items():
        pieces = command.collect_usage_pieces(click.Context(command, info_name=name))
        usage = " ".join([name, *(piece for piece in pieces if piece != "[OPTIONS]")])
        summary = (command.help or "").split("\n\n")[0].replace("\n", " ")
        yield f"### `{usage}`\n\n{paragraph(summary)}\n"
        if own := [option for option in _options(command) if option not in shared.items()]:
            yield listed(own)


def _shared(commands: Iterable[click.Command]) -> dict[str, str]:
    """The options that several commands have in the same words; of a name the first of them."""
    uses = Counter(option for command in commands for option in _options(command))
    several = [option for option, count in uses.items() if count > 1]
    return dict(next(same) for _, same in groupby(sorted(several, key=_name), _name))


def _options(command: click.Command) -> list[tuple[str, str]]:
    """A row for each option: its names, and what it does."""
    return [_option(each) for each in command.params if isinstance(each, click.Option)]


def _name(option: tuple[str, str]) -> str:
    """``--json``, without what it takes."""
    return option[0].strip("`").split()[0]


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
