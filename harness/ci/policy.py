"""What a pull request with submissions may change: files of one author, and nothing else.

Decided by paths and modes; no file is read.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import NamedTuple

from harness.ci.changes import LINK, SUBMODULE, Change, ChangeKind
from harness.ci.choices import CiChoices
from harness.records.fields import Record, Text
from harness.solution.suffixes import GENERATIONS, NAMED, SOURCES
from harness.text import names
from harness.text.names import IN_WORDS, PATTERN

MAX_SUBMISSIONS = 200
"""Most submissions of one pull request: each takes seconds to minutes of a machine."""

FOLDER = "solutions"
_SUFFIX = "|".join(map(re.escape, SOURCES))
_PLACE = re.compile(rf"{FOLDER}/({PATTERN})/({PATTERN})/({PATTERN}(?:{_SUFFIX}))")
_NO_FILES = {LINK: "is a symbolic link", SUBMODULE: "is a submodule"}


class SubmissionPlace(NamedTuple):
    """``solutions/<problem>/<author>/<file>``."""

    problem: str
    author: str
    file: str


class Note(Record):
    """A path, and a remark on it."""

    path: Text
    reason: Text


@dataclass(frozen=True, slots=True)
class GradingPlan:
    """What is to be graded if nothing is refused.

    ``skipped`` are submissions that cannot be graded yet, ``ignored`` changes that are none.
    """

    submissions: list[Change] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    skipped: list[Note] = field(default_factory=list)
    refused: list[Note] = field(default_factory=list)


def place_of(path: str) -> SubmissionPlace | None:
    """The parts of a submission's path, which are safe as file names; None for other paths."""
    match = _PLACE.fullmatch(path)
    return SubmissionPlace(*match.groups()) if match else None


def author_folder(login: str, folders: Iterable[str]) -> str:
    """The one spelling of the folders of ``login``: as in the base, else as given.

    ``folders`` are the base's folders below ``solutions/``.
    """
    known = {path.split("/")[2] for path in folders if path.count("/") >= 2}
    same = sorted(name for name in known if names.key(name) == names.key(login))
    # Another user may be called by letters that only look the same.
    return login if login in same or not same or not names.is_name(login) else same[0]


def examine(
    changes: Sequence[Change], choices: CiChoices, folders: Sequence[str] = ()
) -> GradingPlan:
    """Sort ``changes`` into what is graded, what is left alone, and what is refused.

    ``folders`` are the base's below ``solutions/``.
    """
    plan = GradingPlan()
    refused: list[tuple[str, str]] = []
    for change in changes:
        in_folder = change.path == FOLDER or change.path.startswith(f"{FOLDER}/")
        deleted = change.kind is ChangeKind.DELETED
        if in_folder and not deleted and change.mode in _NO_FILES:
            refused.append((change.path, f"{_NO_FILES[change.mode]}; submit the file itself"))
        elif place_of(change.path) is not None:
            if deleted:
                plan.deleted.append(change.path)
            else:
                plan.submissions.append(change)
        elif choices.other_changes:
            plan.ignored.append(change.path)
        else:
            refused.append((change.path, _misplaced(change.path)))
        if change.old_path and place_of(change.old_path) is None and not choices.other_changes:
            refused.append((change.old_path, _misplaced(change.old_path)))
    refused += _of_others(changes, choices, folders)
    for path, count in Counter(each.path for each in plan.submissions).items():
        if count > 1:
            refused.append((path, f"is in the head's tree {count} times; make the commit with git"))
    if len(plan.submissions) > MAX_SUBMISSIONS:
        reason = (
            f"is one too many: at most {MAX_SUBMISSIONS} submissions are graded for one pull "
            "request; split it"
        )
        refused.append((plan.submissions[MAX_SUBMISSIONS].path, reason))
    plan.refused.extend(Note(path=path, reason=reason) for path, reason in refused)
    return plan


def _misplaced(path: str) -> str:
    if not path.startswith(f"{FOLDER}/"):
        return f"lies outside {FOLDER}/<problem>/<author>/; change it in a pull request of its own"
    if PurePosixPath(path).suffix in GENERATIONS:
        return (
            "is text, which a pull request does not submit: of a language model's output, submit "
            f"the code as a file of its own ({NAMED})"
        )
    return f"is not {FOLDER}/<problem>/<author>/<name>{NAMED} (names: {IN_WORDS})"


def _of_others(
    changes: Iterable[Change], choices: CiChoices, folders: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Paths of authors whose files must not change, with reasons; both ends of a rename count."""
    if choices.any_author:
        return
    owned = {
        path: author
        for change in changes
        for path in (change.old_path, change.path)
        if (author := _owner(path))
    }
    if choices.author is not None:
        allowed = author_folder(choices.author, folders)
        why = f"this pull request is by {choices.author}"
    elif owned:
        first = next(iter(owned.values()))
        allowed = author_folder(first, folders)
        why = f"this pull request also touches files of {first}: one author each"
    for path, author in owned.items():
        # Users of GitHub ignore case; folders and boards do not, so there is one spelling for each.
        if author == allowed:
            continue
        if names.key(author) == names.key(allowed):
            yield path, f"is to lie in the folder {allowed}, which is spelt so; rename {author}"
        else:
            yield path, f"belongs to {author}, and {why}"


def _owner(path: str) -> str:
    """The author whose folder ``path`` lies in; empty if in none."""
    parts = path.split("/")
    return parts[2] if parts[0] == FOLDER and len(parts) > 3 else ""
