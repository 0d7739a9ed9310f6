"""What a pull request with submissions may touch: files of one author, and nothing else.

Looked at are paths and modes alone; nothing of a file is read.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple

from harness.ci.changes import LINK, SUBMODULE, Change, ChangeKind
from harness.solution.generation import SUFFIXES as GENERATIONS
from harness.solution.suffixes import NAMED, SOURCES

MAX_SUBMISSIONS = 200
"""Graded for one pull request: each takes seconds to minutes of a machine."""

FOLDER = "solutions"
_NAME = r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}"
_SUFFIX = "|".join(map(re.escape, SOURCES))
_PLACE = re.compile(rf"{FOLDER}/({_NAME})/({_NAME})/({_NAME}(?:{_SUFFIX}))")
_NO_FILES = {LINK: "is a symbolic link", SUBMODULE: "is a submodule"}


class SubmissionPlace(NamedTuple):
    """``solutions/<problem>/<author>/<file>``."""

    problem: str
    author: str
    file: str


class Refusal(NamedTuple):
    """Why a changed file cannot be part of this pull request."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What is allowed beyond the usual.

    ``author`` is whose files alone may be touched (case does not matter, as in names of GitHub's
    users); ``None`` for any one author's, with ``any_author`` those of several. With
    ``other_changes`` files that are no submissions are left alone instead of refused.
    """

    author: str | None = None
    any_author: bool = False
    other_changes: bool = False


@dataclass(frozen=True, slots=True)
class Submission:
    """A submitted file of the head, to be graded."""

    change: Change
    place: SubmissionPlace


@dataclass(frozen=True, slots=True, kw_only=True)
class GradingPlan:
    """What is to be graded, if nothing is refused. ``ignored`` are paths of other changes."""

    submissions: tuple[Submission, ...]
    deleted: tuple[str, ...]
    ignored: tuple[str, ...]
    refusals: tuple[Refusal, ...]


def place_of(path: str) -> SubmissionPlace | None:
    """Where a submission lies, if this is the path of one; its parts are safe as names of files."""
    match = _PLACE.fullmatch(path)
    return SubmissionPlace(*match.groups()) if match else None


def examine(changes: Sequence[Change], rules: Rules) -> GradingPlan:
    """Sort ``changes`` into what is graded, what is left alone, and what is refused."""
    submissions: list[Submission] = []
    deleted: list[str] = []
    ignored: list[str] = []
    refusals: list[Refusal] = []
    for change in changes:
        reason = _no_file(change)
        place = place_of(change.path)
        if reason is not None:
            refusals.append(Refusal(change.path, reason))
        elif place is None and rules.other_changes:
            ignored.append(change.path)
        elif place is None:
            refusals.append(Refusal(change.path, _misplaced(change.path)))
        elif change.kind is ChangeKind.DELETED:
            deleted.append(change.path)
        else:
            submissions.append(Submission(change, place))
        if change.old_path and place_of(change.old_path) is None and not rules.other_changes:
            refusals.append(Refusal(change.old_path, _misplaced(change.old_path)))
    refusals += _of_others(changes, rules)
    refusals += _repeated(submissions)
    if len(submissions) > MAX_SUBMISSIONS:
        refusals.append(
            Refusal(
                submissions[MAX_SUBMISSIONS].change.path,
                f"is one too many: at most {MAX_SUBMISSIONS} submissions are graded for one pull "
                "request; split it",
            )
        )
    return GradingPlan(
        submissions=tuple(submissions),
        deleted=tuple(deleted),
        ignored=tuple(ignored),
        refusals=tuple(refusals),
    )


def _no_file(change: Change) -> str | None:
    """Why this is no file, where only files may be."""
    if change.path != FOLDER and not change.path.startswith(f"{FOLDER}/"):
        return None
    words = None if change.kind is ChangeKind.DELETED else _NO_FILES.get(change.mode)
    return None if words is None else f"{words}; submit the file itself"


def _misplaced(path: str) -> str:
    if not path.startswith(f"{FOLDER}/"):
        return f"lies outside {FOLDER}/<problem>/<author>/; change it in a pull request of its own"
    if PurePosixPath(path).suffix in GENERATIONS:
        return (
            "is text, which a pull request does not submit: of a language model's output, submit "
            f"the code as a file of its own ({NAMED})"
        )
    return (
        f"is not {FOLDER}/<problem>/<author>/<name>{NAMED} "
        "(names: letters, digits and . _ + -, at most 64, the first a letter or digit)"
    )


def _of_others(changes: Iterable[Change], rules: Rules) -> Iterator[Refusal]:
    """Files of authors whom this pull request must not touch; both ends of a rename count."""
    if rules.any_author:
        return
    owned = {
        path: place.author
        for change in changes
        for path in (change.old_path, change.path)
        if (place := place_of(path)) is not None
    }
    if rules.author is not None:
        allowed, why = rules.author, f"this pull request is by {rules.author}"
    elif owned:
        allowed = next(iter(owned.values()))
        why = f"this pull request also touches files of {allowed}: one author each"
    for path, author in owned.items():
        # Without a name that was given, alice and Alice are two folders, and so two authors.
        same = author.lower() == allowed.lower() if rules.author else author == allowed
        if not same:
            yield Refusal(path, f"belongs to {author}, and {why}")


def _repeated(submissions: Iterable[Submission]) -> Iterator[Refusal]:
    """Paths that a tree made by hand holds twice."""
    for path, count in Counter(each.change.path for each in submissions).items():
        if count > 1:
            yield Refusal(path, f"is in the head's tree {count} times; make the commit with git")
