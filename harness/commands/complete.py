"""What the shell may offer while a command is typed. Quiet: what cannot be found is not offered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from harness.commands.common import problems_root
from harness.errors import JudgeError
from harness.text.plain import plain

if TYPE_CHECKING:
    from harness.records.result import Result

_MOST_IDS = 100
_SLUG = re.compile(r"^slug:[ \t]*[\"']?([a-z0-9_-]+)[\"']?[ \t]*$", re.MULTILINE)
# Shells insert words as they are: a name that would need quotes has to be typed.
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


def problem_slugs(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Slugs of the problems that the command would know."""
    chosen = next(_said(context, "problems_dir"), None)
    try:
        folders = sorted(problems_root(Path(chosen) if chosen else None).iterdir())
    except (JudgeError, OSError):
        return []
    slugs = map(_slug, folders)
    return _items((slug, "") for slug in slugs if slug and slug.startswith(incomplete))


def result_ids(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Ids of what is recorded, each with what it is."""
    from leaderboard.location import default_store_url, missing_file, store_url
    from leaderboard.store import Store, StoreError

    chosen = next(_said(context, "store"), None)
    url = store_url(chosen) if chosen else default_store_url()
    if missing_file(url) is not None:  # to look must not make one
        return []
    try:
        with Store(url) as store:
            found = list(store.named(store.ids_like(incomplete, _MOST_IDS)))
    except StoreError:
        return []
    return _items((each.id, _told(each)) for each in found)


def verdicts(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The verdicts there are."""
    from harness.records.result import Verdict

    return _items((each, "") for each in Verdict if each.startswith(incomplete.upper()))


def dtypes(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The data types there are."""
    from harness.problem.dtypes import DTYPES

    return _items((each, "") for each in DTYPES if each.startswith(incomplete))


def _slug(folder: Path) -> str | None:
    """Of the package in ``folder``, from a look: to read all of them takes half a second."""
    try:
        with open(folder / "problem.md", encoding="utf-8", errors="replace") as file:
            found = _SLUG.search(file.read(4096))
    except OSError:
        return None
    return found[1] if found else folder.name


def _said(context: click.Context, name: str) -> Iterator[str]:
    """What an option further left says, or its variable; of the command first, then its group."""
    each: click.Context | None = context
    while each is not None:
        if each.params.get(name):
            yield str(each.params[name])
        each = each.parent


def _told(result: Result) -> str:
    who = f"{result.solution.author}/{result.solution.name}"
    return plain(f"{result.problem.slug} {who} {result.verdict} {result.created:%Y-%m-%d}", 100)


def _items(words: Iterable[tuple[str, str]]) -> list[CompletionItem]:
    return [
        CompletionItem(word, help=told or None) for word, told in words if _SAFE.fullmatch(word)
    ]
