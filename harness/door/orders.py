"""What a caller says of sources, as orders to the judge's process."""

import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from harness.door.messages import Order
from harness.errors import UsageError

Source = str | os.PathLike[str]
"""A ``str`` is code, or a model's output with code in it, never a path; a ``Path`` is a file."""
Problem = str | os.PathLike[str]
"""A slug, or the path of a problem in a foreign format."""

_MOST_CHARACTERS = (1 << 20) + 1
"""Of a text that are sent: one with more is too large."""


class Options(NamedTuple):
    """What a caller may say of a source."""

    dtype: str | None = None
    language: str | None = None
    author: str | None = None
    seed: str | None = None


def orders_of(
    folder: str,
    sources: Iterable[Source],
    problem: Problem | Sequence[Problem] | None,
    options: Options,
) -> Iterator[Order]:
    """The orders for ``sources``; their mistakes come when it is their turn."""
    if isinstance(sources, str | os.PathLike):
        raise UsageError("sources: a list of texts or paths, not one alone: grade() takes one")
    if problem is None or isinstance(problem, str | os.PathLike):
        problems: Iterable[Problem | None] = itertools.repeat(problem)
    else:
        problems = problem
        if isinstance(sources, Sequence) and len(sources) != len(problem):
            raise UsageError(
                f"problem: {len(problem)} of them for {len(sources)} sources; give one for all, or "
                "one for each"
            )
    places = itertools.count()
    return (
        order_of(folder, place, source, each, options)
        for place, source, each in zip(places, sources, problems, strict=False)
    )


def order_of(
    folder: str, place: int, source: Source, problem: Problem | None, options: Options
) -> Order:
    """The order for one source, the relative paths in it as from ``folder``.

    Raises:
        UsageError: it is neither a text nor a path, or a text of which no problem is known.
    """
    if not isinstance(source, str | os.PathLike):
        raise UsageError(
            f"source {place}: {type(source).__name__}; give code as a str, or a file as a "
            "pathlib.Path (of a conversation: its last message's content)"
        )
    if problem is not None and not isinstance(problem, str | os.PathLike):
        raise UsageError(f"problem of source {place}: {type(problem).__name__}; give its slug")
    about = {"number": place, "problem": problem and _path(folder, problem), **options._asdict()}
    if isinstance(source, str):
        return Order(text=source[:_MOST_CHARACTERS], **about)
    return Order(path=_path(folder, source), **about)


def _path(folder: str, path: str | os.PathLike[str]) -> str:
    """``path`` as it means the same to the judge, which works in ``folder``."""
    if isinstance(path, str) and os.sep not in path:
        return path
    same = os.getcwd() == folder  # noqa: PTH109
    return os.fspath(path) if same else os.path.abspath(path)  # noqa: PTH100
