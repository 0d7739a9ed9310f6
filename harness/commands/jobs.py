"""The jobs of ``submit``, ``check`` and ``compare``: files as read, and the problems they are for.

Keep imports cheap: jobs are made before torch is imported.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Never

import click

from harness.commands import common
from harness.commands.stdin import STDIN, read_stdin, without_file
from harness.errors import JudgeError, MachineError, ProblemError, UsageError
from harness.text.plain import plain, plain_lines

if TYPE_CHECKING:
    from harness.commands.choices import Choices
    from harness.formats.checkout import Checkout
    from harness.formats.problem import Foreign
    from harness.grading.job import Job
    from harness.problem.gradable import Gradable
    from harness.records.result import Verdict
    from harness.solution.model import Invalid, Solution

_BATCH = 1000
"""Files that are read before the first of them is graded."""
_BATCH_BYTES = 64 << 20
_NAMED = 5
"""Files that the summary names."""
_NOT_JUDGED = "not judged"


class Packages:
    """The packages in the folder ``root``, each loaded once, and its mistakes found once.

    And the problems of other formats: those at a path that is asked for, and those of checkouts;
    ``measured`` says whose tolerance decides.
    """

    def __init__(self, root: Path, *, measured: bool = False) -> None:
        self.root = root
        self.measured = measured
        self._known: list[tuple[Path, str | None]] | None = None
        self._found: dict[str, Gradable | JudgeError] = {}
        self._checkouts: dict[Path, Checkout] = {}

    def checkout(self, name: str) -> Checkout | None:
        """The checkout at a path that is a folder and no problem by itself; None for others."""
        path = Path(name)
        if path not in self._checkouts:
            if not self.is_path(name) or not path.is_dir():
                return None

            from harness.formats.checkout import Checkout
            from harness.formats.known import is_problem

            if is_problem(path):
                return None
            self._checkouts[path] = Checkout(path, measured=self.measured)
        return self._checkouts[path]

    def below(self) -> Checkout | None:
        """The root as a checkout of other formats; None if it has none of their problems."""
        from harness.formats.checkout import Checkout

        if self.root not in self._checkouts:
            found = Checkout(self.root, measured=self.measured)
            try:
                found.sources  # noqa: B018 - reads them
            except UsageError:
                return None
            self._checkouts[self.root] = found
        return self._checkouts[self.root]

    def is_path(self, name: str) -> bool:
        """Whether ``name`` is that of a file or folder of a foreign format, and of no package."""
        from harness.formats.known import looks_like_path

        return looks_like_path(name) or (
            os.path.lexists(name) and name not in {slug for _, slug in self._packages(self.root)}
        )

    def find(self, slug: str) -> Gradable:
        """The problem ``slug``, which can be graded, or the foreign one at that path.

        Raises:
            UsageError: there is none, or it says too little to grade with.
            ProblemError: its package has mistakes.
        """
        if slug not in self._found:
            try:
                self._found[slug] = self._load(slug)
            except JudgeError as error:
                self._found[slug] = error
        found = self._found[slug]
        if isinstance(found, JudgeError):
            raise found.with_traceback(None)
        return found

    def _load(self, slug: str) -> Gradable:
        from harness.problem.format.load import find_problem

        if self.is_path(slug):
            return _foreign(Path(slug), measured=self.measured)
        found = find_problem(self.root, slug, self._packages)
        if not found.complete:
            raise UsageError(f"{found.slug} cannot be graded yet: " + "; ".join(found.missing))
        return found

    def _packages(self, root: Path) -> list[tuple[Path, str | None]]:
        from harness.problem.format.load import packages

        if self._known is None:
            self._known = packages(root)
        return self._known


def _foreign(path: Path, *, measured: bool) -> Gradable:
    """The problem of a foreign format at ``path``."""
    from harness.formats.known import read_problem
    from harness.formats.problem import Foreign

    return Foreign(source=read_problem(path), measured=measured)


class Tally:
    """What came of each of the ``files`` of a run; what is no verdict ends one that has only one.

    Of several each that could not be judged is told at the end, on stderr, then where the ``rest``
    of each result is, and the counts.
    """

    def __init__(self, files: Sequence[Path], rest: str = "") -> None:
        self._files = len(files)
        self._rest = rest
        self.left = dict.fromkeys(map(str, files))
        """The files of which nothing is known yet, in order."""
        self.verdicts: list[Verdict] = []
        self.lost: dict[str, str] = {}
        """The line on each file that could not be judged, by its path."""
        self._mistakes: dict[str, None] = {}
        self._machine = False

    @property
    def several(self) -> bool:
        """Whether there is more than one file."""
        return self._files > 1

    def lose(self, path: str, error: JudgeError) -> None:
        """The file at ``path`` cannot be judged.

        Raises:
            JudgeError: ``error``, if it is the only file.
        """
        if self._files == 1:
            raise error
        self.left.pop(path, None)
        self._machine |= isinstance(error, MachineError)
        name, reason = plain(path), str(error)
        if isinstance(error, ProblemError):  # the same for all files of its problem
            self._mistakes[reason] = None
            first = error.diagnostics[0]
            reason = f"its problem has mistakes: see {first.path}:{first.line} above"
        self.lost[path] = reason if reason.startswith(f"{name}: ") else f"{name}: {reason}"

    def count(self, path: str, verdict: Verdict) -> None:
        """The file at ``path`` has a verdict."""
        self.left.pop(path, None)
        self.verdicts.append(verdict)

    def known(self) -> dict[str, int]:
        """How many files got each verdict, and how many could not be judged, by name."""
        from harness.records.result import Verdict

        count = Counter(self.verdicts)
        lost = {_NOT_JUDGED: len(self.lost)} if self.lost else {}
        return {str(each): count[each] for each in Verdict if count[each]} | lost

    def tell(self) -> None:
        """Say on stderr which of several files are not judged, and how many got each verdict."""
        for line in (*self._mistakes, *self.lost.values()):
            click.echo(f"error: {plain_lines(line)}", err=True)
        if self._files == 1:
            return
        if self._rest and self.verdicts:
            click.echo(self._rest, err=True)
        known = {name: count for name, count in self.known().items() if name != _NOT_JUDGED}
        parts = [f"{count:,} {name}" for name, count in known.items()] or ["none judged"]
        text = f"{self._files:,} files: {', '.join(parts)}"
        if lost := list(self.lost):
            more = [f"{len(lost) - _NAMED:,} more"] if len(lost) > _NAMED else []
            names = ", ".join([*map(plain, lost[:_NAMED]), *more])
            text += f"; {len(lost):,} not judged: {names}"
        click.echo(text, err=True)

    def exit_code(self) -> int:
        """2 if there were files that could not be judged, and 3 if the machine is why.

        Else that of the verdicts; an INTERNAL_ERROR goes before.
        """
        status = common.exit_code(self.verdicts)
        if self._machine:
            return MachineError.exit_code
        return max(status, UsageError.exit_code) if self.lost else status


def job_batches(files: Sequence[Path], choices: Choices, tally: Tally) -> Iterator[list[Job]]:
    """The jobs of grading ``files``, in order, some at a time: not all need fit into memory.

    ``tally`` gets the files that cannot be judged.

    Raises:
        UsageError: an option cannot be right, whatever is in the files.
        ProblemError: the package of the problem that ``choices`` names has mistakes.
    """
    root = common.problems_root(choices.problems_dir)
    packages = Packages(root, measured=choices.tolerance == "measured")
    if len(files) > 1:
        _check_options(packages, choices)
    batch: list[Job] = []
    size = 0
    for path in files:
        try:
            job = job_of(
                path,
                packages,
                problem=choices.problem,
                author=choices.author,
                dtype=choices.dtype,
                language=choices.language,
            )
        except JudgeError as error:
            tally.lose(str(path), error)
            continue
        if choices.case:
            job.problem.parse_case(choices.case)  # raises if it is none
        batch.append(job)
        size += len(job.solution.submitted or b"")
        if len(batch) == _BATCH or size > _BATCH_BYTES:
            yield _by_problem(batch)
            batch, size = [], 0
    if batch:
        yield _by_problem(batch)


def _by_problem(jobs: list[Job]) -> list[Job]:
    """The jobs in their order, but those of a foreign problem together: its process starts once."""
    first: dict[str, int] = {}
    for number, job in enumerate(jobs):
        if job.problem.format:
            first.setdefault(job.problem.hash, number)
    places = [first.get(job.problem.hash, number) for number, job in enumerate(jobs)]
    return [jobs[number] for number in sorted(range(len(jobs)), key=places.__getitem__)]


def _check_options(packages: Packages, choices: Choices) -> None:
    """Refuse at once what no file can make right."""
    from harness.problem.dtypes import DTYPES, dtype_meant

    dtype = choices.dtype
    if dtype is not None and dtype not in DTYPES:
        hint = dtype_meant(dtype, DTYPES) or f" (one of {', '.join(DTYPES)})"
        raise UsageError(f"--dtype {dtype}: there is no such type{hint}")
    if choices.problem:
        if (checkout := packages.checkout(choices.problem)) is not None:
            checkout.sources  # noqa: B018 - raises if there is no problem
            return
        _require_dtype(packages.find(choices.problem), dtype)


def _require_dtype(problem: Gradable, dtype: str | None) -> None:
    if dtype is not None and dtype not in problem.dtypes:
        from harness.problem.dtypes import dtype_meant

        hint = dtype_meant(dtype, problem.dtypes)
        raise UsageError(f"--dtype {dtype}: {problem.slug} has {', '.join(problem.dtypes)}{hint}")


def job_of(
    path: Path,
    packages: Packages,
    *,
    problem: str | None,
    author: str | None = None,
    dtype: str | None = None,
    language: str | None = None,
    submitted: bytes | None = None,
) -> Job:
    """The job of grading ``path``: the file as read and its problem, one of ``packages``.

    ``problem`` and ``author`` take the place of those in the path; ``dtype`` is only checked.
    ``problem`` may be the path of one in a foreign format, or of a folder with many, of which the
    file says its own; ``language`` is that of standard input, if ``path`` is ``-``. If its content
    is given as ``submitted``, there is no such file, and the path is ``-`` in results.

    Raises:
        UsageError: there is no such file, problem or data type, or no name of a problem.
        ProblemError: the problem's package has mistakes.
    """
    from harness.solution.contents import refusal

    if problem and path != STDIN and submitted is None and (reason := refusal(path)):
        raise UsageError(reason)  # named by mistake, and known at once
    by_path = packages.is_path(problem) if problem else False
    if problem and not by_path:
        packages.find(problem)  # likewise, before the file is read

    from harness.grading.job import Job
    from harness.languages.read import is_there, read_solution
    from harness.problem.lookup import slug_named
    from harness.problem.package import Problem
    from harness.solution.generation.notes import generation_notes, said_problem

    checkout = packages.checkout(problem) if problem and by_path else None
    if checkout is not None:
        problem = None
    foreign = packages.find(problem) if problem and by_path else None
    problem = foreign.slug if foreign else problem
    if path == STDIN:
        solution = read_stdin(language, problem=problem, author=author)
    else:
        solution = read_solution(path, submitted=submitted, problem=problem, author=author)
    if submitted is not None:
        solution, path = without_file(solution), STDIN
    if path != STDIN and not is_there(path):  # after it is read: it may have gone meanwhile
        raise UsageError(f"{plain(str(path))}: no such file")
    if checkout is None and problem is None and solution.wanted:
        checkout = packages.below()
    if checkout is not None:
        foreign = _of_checkout(checkout, solution, plain(str(path)))
        solution = replace(solution, problem=foreign.slug)
    if foreign is None:
        slug = problem or solution.problem or _unnamed(solution, plain(str(path)))
        if slug in (said_problem(solution), solution.wanted.name):
            slug = slug_named(packages.root, slug, plain(str(path)))
    found = foreign or packages.find(slug)
    _require_dtype(found, dtype)
    notes: tuple[str, ...] = ()
    if isinstance(found, Problem):
        if packages.measured:
            raise UsageError(f"--tolerance: {found.slug} is in no other format; leave it away")
        notes = generation_notes(solution, found, packages.root)
    return Job(path=str(path), solution=solution, problem=found, notes=notes)


def _unnamed(solution: Solution | Invalid, place: str) -> Never:
    """Say what to do about a submission at ``place`` that is for no problem."""
    from harness.solution.model import Invalid

    if isinstance(solution, Invalid) and solution.generation is None:
        raise UsageError(solution.message)
    if solution.wanted:
        raise UsageError(
            f"{place}: is for {plain(str(solution.wanted))} of a set: name the folder that it was "
            "checked out to with --problem"
        )
    raise UsageError(
        f"{place}: which problem? Put the file under solutions/<problem>/<author>/, or name it "
        "with --problem"
    )


def _of_checkout(checkout: Checkout, solution: Solution | Invalid, place: str) -> Foreign:
    """The problem of a checkout that a submission is for, by its name, its keys or its header.

    Raises:
        UsageError: nothing says which, there is none, or another version of it.
    """
    from harness.solution.model import Invalid
    from harness.solution.wanted import said

    checkout.sources  # noqa: B018 - raises if there is no problem
    wanted = solution.wanted
    if not wanted and solution.problem:
        if (found := checkout.by_slug(solution.problem)) is not None:
            return found
        wanted = said(solution.problem)
    if wanted:
        return checkout.find(wanted, place)
    if isinstance(solution, Invalid):
        raise UsageError(solution.message)
    raise UsageError(
        f"{place}: which problem of {plain(str(checkout.root))}? A file says it in its name "
        "(level_1_problem_19_sample_0_kernel.py), a record by its keys (level, problem_id), a "
        "generation in its header"
    )
