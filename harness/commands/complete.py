"""What the shell offers while a command is typed: slugs, verdicts, data types. Never an error."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from harness.commands.common import problems_root
from harness.errors import JudgeError

_SLUG = re.compile(r"^slug:[ \t]*[\"']?([a-z0-9_-]+)[\"']?[ \t]*$", re.MULTILINE)
# Shells insert words as they are: a name that would need quotes has to be typed.
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


def problem_slugs(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Slugs of the problems that the command would know."""
    chosen = next(_named_option(context, "problems_dir"), None)
    try:
        folders = sorted(problems_root(Path(chosen) if chosen else None).iterdir())
    except (JudgeError, OSError):
        return []
    slugs = map(_slug, folders)
    return _items((slug for slug in slugs if slug), incomplete)


def verdicts(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The verdicts there are."""
    from harness.records.result import Verdict

    return _items(Verdict, incomplete.upper())


def dtypes(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The data types there are."""
    from harness.problem.dtypes import DTYPES

    return _items(DTYPES, incomplete)


def _slug(folder: Path) -> str | None:
    """Of the package in ``folder``, by a line of its file: to read YAML takes 10 ms a package."""
    try:
        with open(folder / "problem.md", encoding="utf-8", errors="replace") as file:
            found = _SLUG.search(file.read(4096))
    except OSError:
        return None
    return found[1] if found else folder.name


def _named_option(context: click.Context, name: str) -> Iterator[str]:
    """The value of an option or of its variable: that of the command first, then of its groups."""
    each: click.Context | None = context
    while each is not None:
        if each.params.get(name):
            yield str(each.params[name])
        each = each.parent


def _items(words: Iterable[str], begin: str) -> list[CompletionItem]:
    return [
        CompletionItem(word) for word in words if word.startswith(begin) and _SAFE.fullmatch(word)
    ]
