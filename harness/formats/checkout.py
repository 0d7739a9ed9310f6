"""The problems of a checkout, and which of them an output of a model is for."""

from collections.abc import Iterator
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from harness.errors import UsageError
from harness.formats.base import Source
from harness.formats.known import problems_in
from harness.formats.problem import Foreign
from harness.formats.versions import fingerprint, version_of
from harness.problem.lookup import key_of
from harness.solution.wanted import Wanted, said
from harness.text.plain import plain
from harness.text.suggest import nearest

_NAMED = 5
"""Problems that a message names."""


class Checkout:
    """The problems at and below a folder; it is read when the first is looked for.

    ``measured`` says whose tolerance decides, as of :class:`Foreign`.
    """

    def __init__(self, root: Path, *, measured: bool = False) -> None:
        self.root = root
        self._measured = measured
        self._problems: dict[Path, Foreign] = {}

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        """All problems, in the order of their paths.

        Raises:
            UsageError: there is none, or one cannot be read.
        """
        found = tuple(problems_in(self.root))
        if not found:
            raise UsageError(f"{plain(str(self.root))}: no problem of a known format")
        return found

    def find(self, wanted: Wanted, place: str) -> Foreign:
        """The problem that the file at ``place`` is for.

        Raises:
            UsageError: there is none, or several; or another version of it.
        """
        found = [each for each in self.sources if _fits(each, wanted)]
        if wanted.reference:
            found = self._of_text(found, wanted, place)
        if len(found) == 1:
            return self._problem(found[0])
        root = plain(str(self.root))
        if not found:
            raise UsageError(f"{place}: {root} has no {plain(str(wanted))}{self._near(wanted)}")
        names = ", ".join(plain(str(each.path)) for each in found[:_NAMED])
        raise UsageError(f"{place}: {plain(str(wanted))} of {root} may be any of {names}")

    def problems(self) -> Iterator[Foreign]:
        """All problems; raises as ``sources``."""
        return map(self._problem, self.sources)

    def by_slug(self, slug: str) -> Foreign | None:
        """The problem whose results have this slug; None if there is none, or several."""
        found = [each for each in self.sources if each.slug == slug]
        return self._problem(found[0]) if len(found) == 1 else None

    def _problem(self, source: Source) -> Foreign:
        return self._problems.setdefault(
            source.path, Foreign(source=source, measured=self._measured)
        )

    def _of_text(self, found: list[Source], wanted: Wanted, place: str) -> list[Source]:
        """Those of ``found`` whose text is the record's; of all, where it names none."""
        mark = fingerprint(wanted.reference.encode("utf-8", "replace"))
        near = found or ([] if wanted.level or wanted.number else list(self.sources))
        same = [each for each in near if fingerprint(each.files[0].text) == mark]
        if same or not found:
            return same
        there = plain(str(found[0].path))
        version = version_of(mark)
        if version is None:
            digest = sha256(wanted.reference.encode("utf-8", "replace")).hexdigest()[:12]
            raise UsageError(
                f"{place}: its record is for another text than {there}, of no version that is "
                f"known here (SHA-256 {digest}…)"
            )
        raise UsageError(
            f"{place}: its record is for another text than {there}: for that of KernelBench "
            f"{version.named}; git -C {plain(str(self.root))} checkout {version.commit}"
        )

    def _near(self, wanted: Wanted) -> str:
        names = {key_of(each.path.stem): each.path for each in self.sources}
        near = nearest(key_of(wanted.name), names) if wanted.name else None
        return f" (did you mean {plain(str(names[near]))}?)" if near else ""


def _fits(source: Source, wanted: Wanted) -> bool:
    """Whether a problem may be the one, by level and number, else by its name."""
    if wanted.number is None:
        return (
            bool(wanted.name)
            and any(key_of(wanted.name) == key_of(name) for name in _names(source))
            and wanted.level in (None, _level(source))
        )
    if said(source.path.stem).number != wanted.number:
        return False
    if wanted.level is not None:
        return wanted.level == _level(source)
    return not wanted.name or key_of(wanted.name) == key_of(source.path.stem)


def _names(source: Source) -> Iterator[str]:
    """What a problem is called: by its slug, its file, its folder, its title."""
    yield source.slug
    yield source.path.stem
    yield source.path.absolute().parent.name
    yield source.title


def _level(source: Source) -> int | None:
    """The level in the path of a problem's file: the last folder that names one."""
    folders = source.path.absolute().parent.parts
    return next((level for each in reversed(folders) if (level := said(each).level)), None)
