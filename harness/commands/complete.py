"""Shell completion of slugs, verdicts and data types; it never fails."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from click import Context, Parameter
from click.shell_completion import CompletionItem

from harness.commands.common import problems_root
from harness.errors import JudgeError

_SLUG = re.compile(r"^slug:[ \t]*[\"']?([a-z0-9_-]+)[\"']?[ \t]*$", re.MULTILINE)
# Shells insert words as they are: names that need quotes are not offered.
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


def problem_slugs(context: Context, _parameter: Parameter, incomplete: str) -> list[CompletionItem]:
    """Slugs of the problems in the folder that the command would use."""
    try:
        folders = sorted(problems_root(_problems_dir(context)).iterdir())
    except (JudgeError, OSError):
        return []
    return _items(filter(None, map(_slug, folders)), incomplete)


def verdicts(_context: Context, _parameter: Parameter, incomplete: str) -> list[CompletionItem]:
    """The verdicts there are."""
    from harness.records.result import Verdict

    return _items(Verdict, incomplete.upper())


def dtypes(_context: Context, _parameter: Parameter, incomplete: str) -> list[CompletionItem]:
    """The data types there are."""
    from harness.problem.dtypes import DTYPES

    return _items(DTYPES, incomplete)


def _slug(folder: Path) -> str | None:
    """The slug that a line of the package's file gives: reading YAML takes 10 ms a package."""
    try:
        with open(folder / "problem.md", encoding="utf-8", errors="replace") as file:
            found = _SLUG.search(file.read(4096))
    except OSError:
        return None
    return found[1] if found else folder.name


def _problems_dir(context: Context | None) -> Path | None:
    """The value of ``--problems`` or its variable: the command's, else that of its groups."""
    if context is None:
        return None
    chosen = context.params.get("problems_dir")
    return Path(chosen) if chosen else _problems_dir(context.parent)


def _items(words: Iterable[str], begin: str) -> list[CompletionItem]:
    safe = filter(_SAFE.fullmatch, words)
    return [CompletionItem(word) for word in safe if word.startswith(begin)]
