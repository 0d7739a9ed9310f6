"""What several commands share: options, and where problems, results and outputs are.

As in all command modules, what is heavy is imported by the function that needs it.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.errors import HarnessError, JudgeError, MachineError, ProblemError, UsageError
from harness.text.plain import plain, plain_lines

if TYPE_CHECKING:
    from harness.problem.model import Problem
    from harness.records.result import Verdict
    from leaderboard.store import Store

_NOWHERE = "sqlite://"
"""A store in memory."""

problems_option = click.option(
    "--problems",
    "problems_dir",
    type=click.Path(file_okay=False, path_type=Path),
    envvar="HARNESS_PROBLEMS",
    help="Folder of problem packages [default: ./problems, else the ones shipped].",
)
# Where the group has read the environment already: what is said nearer goes first.
inner_problems_option = click.option(
    "--problems",
    "problems_dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of problem packages.",
)
store_option = click.option(
    "--store", envvar="HARNESS_STORE", help="Where results are kept: a database URL or a file."
)
device_option = click.option(
    "--device",
    type=click.Choice(["auto", "cuda", "cpu"]),
    default="auto",
    show_default=True,
    help="Where to run.",
)


def _require_sandbox(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    """Refuse to grade where a submission could do what it must not."""
    if not wanted or context.resilient_parsing:  # somebody is still typing
        return
    from harness.sandbox.selftest import breaches

    if found := breaches():
        raise MachineError(
            f"--require-sandbox: on this machine a submission can {', '.join(found)}; "
            "harness doctor says what to do"
        )


sandbox_option = click.option(
    "--require-sandbox",
    is_flag=True,
    envvar="HARNESS_REQUIRE_SANDBOX",
    expose_value=False,
    callback=_require_sandbox,
    help="Refuse to grade where submissions cannot be confined.",
)


def say_error(error: JudgeError) -> None:
    """What is wrong, on stderr: texts from problems and submissions are in it."""
    click.echo(f"error: {plain_lines(str(error))}", err=True)


@contextlib.contextmanager
def open_store(place: str | None) -> Iterator[Store]:
    """The store of results; what is wrong with it is a fault of the machine."""
    from leaderboard.store import Store, StoreError

    try:
        with Store.open(place) as store:
            yield store
    except StoreError as error:
        raise MachineError(str(error)) from error


@contextlib.contextmanager
def existing_store(place: str | None) -> Iterator[Store]:
    """The store of results for who needs those that are there: none is made where there is none.

    Then it is empty, and stderr says so if it was named: the name may be a wrong one.
    """
    from leaderboard.location import default_store_url, missing_file, store_url

    missing = missing_file(default_store_url() if place is None else store_url(place))
    if missing is not None and place is not None:
        click.echo(f"note: {plain(str(missing))}: no such file, so nothing is recorded", err=True)
    with open_store(place if missing is None else _NOWHERE) as store:
        yield store


def problems_root(chosen: Path | None) -> Path:
    """The folder of packages: the one named, else the current folder's, else the shipped one.

    Raises:
        UsageError: there is no such folder.
    """
    shipped = Path(__file__).resolve().parents[2] / "problems"
    candidates = [chosen] if chosen else [Path("problems"), shipped]
    for folder in candidates:
        if folder.is_dir():
            return folder
    raise UsageError(f"no folder {candidates[0]}: name the problems' folder with --problems")


def load_all(root: Path) -> tuple[list[Problem], list[ProblemError]]:
    """Every package in ``root``: those that load, by slug, and what is wrong with the others."""
    from harness.problem.format.load import load_problem, problem_folders

    good, broken = [], []
    for folder in problem_folders(root):
        try:
            good.append(load_problem(folder))
        except ProblemError as error:
            broken.append(error)
    return sorted(good, key=lambda each: each.slug), broken


@contextlib.contextmanager
def output_to(target: str) -> Iterator[Any]:
    """A text file to write to: ``target``, or stdout for ``-``.

    Raises:
        UsageError: it cannot be written.
    """
    if target == "-":
        yield sys.stdout
        return
    try:
        file = open(target, "w", encoding="utf-8", newline="")  # noqa: SIM115 - closed below
    except OSError as error:
        raise UsageError(f"cannot write {plain(target)}: {error.strerror}") from error
    with file:
        yield file


def status_of(verdicts: Iterable[Verdict]) -> int:
    """The exit code that tells of all ``verdicts``."""
    from harness.records.result import Verdict

    seen = set(verdicts)
    if Verdict.INTERNAL_ERROR in seen:
        return HarnessError.exit_code
    return 0 if seen <= {Verdict.ACCEPTED} else 1
