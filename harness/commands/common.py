"""Options that several commands have, and where their problems, results and outputs are.

Command modules import what is heavy inside the functions that need it, so that help is instant.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TextIO, TypeVar, cast

import click
from click.core import ParameterSource

from harness import signals
from harness.commands.cards import use_card
from harness.commands.cluster import require_sandbox_there, wanted_cluster
from harness.commands.streams import require_stdout
from harness.errors import (
    HarnessError,
    JudgeError,
    MachineError,
    NoDeviceError,
    ProblemError,
    TimeOverError,
    UsageError,
)
from harness.text.output import replacing_text
from harness.text.plain import plain, plain_lines

if TYPE_CHECKING:
    from rich.console import Console

    from harness.problem.package import Problem
    from harness.records.result import Verdict
    from leaderboard.store import Store

P = ParamSpec("P")
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., object])

_PROSE = 100
_UNWRAPPED = 10_000
_IN_MEMORY = "sqlite://"

PATH = click.Path(path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)

problems_option = click.option(
    "--problems",
    "problems_dir",
    type=FOLDER,
    envvar="HARNESS_PROBLEMS",
    help="Folder of problem packages [default: ./problems, else the ones shipped].",
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


def functional_times_option(meaning: str) -> Callable[[F], F]:
    """The option without which nothing of a CPU is shown as a time; ``meaning`` is its help."""
    return click.option(
        "--functional-times", is_flag=True, envvar="HARNESS_FUNCTIONAL_TIMES", help=meaning
    )


TAKE_FUNCTIONAL_TIMES = "Without a GPU: take times on the CPU, which say nothing of a GPU's."
SHOW_FUNCTIONAL_TIMES = "Show boards of CPUs, too, whose times say nothing of a GPU's."


def require_device(device: str) -> None:
    """Refuse ``cuda`` where there is no GPU, at once: torch takes seconds to import.

    The card that ``--card`` names becomes the only one that this process sees.

    Raises:
        NoDeviceError: there is none.
        UsageError: there is no such card, or none is used.
    """
    from harness.device.present import NO_GPU, gpu_present

    use_card(device)
    if wanted_cluster() is not None:
        return  # it is not this machine that needs one
    if device == "cuda" and not gpu_present():
        raise NoDeviceError(NO_GPU)


def _require_sandbox(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if not wanted or context.resilient_parsing:  # the shell completes a command
        return
    require_sandbox_there(context)
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


def _number(_context: click.Context, option: click.Parameter, value: float | None) -> float | None:
    if value is not None and math.isnan(value):
        raise UsageError(f"{option.opts[0]}: nan is no number")
    return value


limit_option = click.option(
    "--limit-s",
    callback=_number,
    type=click.FloatRange(min=0, min_open=True, max=1e8),
    metavar="SECONDS",
    help="Stop after so long: what is in work is not graded, nor what is left; exit code 3.",
)


def pass_choices(record: Callable[P, T]) -> Callable[[Callable[[T], None]], Callable[P, None]]:
    """Give a command its arguments and options as one ``record``."""

    def decorate(command: Callable[[T], None]) -> Callable[P, None]:
        @functools.wraps(command)
        def with_record(*args: P.args, **kwargs: P.kwargs) -> None:
            command(record(*args, **kwargs))

        return with_record

    return decorate


def console(*, stderr: bool = False, prose: bool = False) -> Console:
    """The terminal to print to.

    In a pipe lines are as long as they are, without spaces at their ends, unless ``COLUMNS`` says
    how wide it is; ``prose`` is wrapped there, too.
    """
    from rich.console import Console

    from harness.text.output import Unpadded

    stream = sys.stderr if stderr else sys.stdout
    if stream.isatty() or os.environ.get("COLUMNS"):
        return Console(stderr=stderr)
    file = cast(TextIO, Unpadded(stream))
    return Console(file=file, width=_PROSE if prose else _UNWRAPPED)


def print_error(error: JudgeError) -> None:
    """Print ``error`` on stderr; its text may come from problems and submissions."""
    click.echo(f"error: {plain_lines(str(error))}", err=True)


@contextlib.contextmanager
def open_store(place: str | None, *, write: bool = True) -> Iterator[Store]:
    """The store of results, made if it is missing; its errors are the machine's.

    To ``write``, it must be one that can be written.
    """
    from leaderboard.failures import WrongStoreError
    from leaderboard.store import Store, StoreError

    try:
        with Store.open(place) as store:
            if write and store.read_only:
                raise MachineError(
                    f"{store.url} {store.read_only}: copy it to where you may write, and name the "
                    f"copy{_store_is_named()}"
                )
            yield store
    except WrongStoreError as error:
        raise UsageError(f"{error}{_store_is_named()}") from error
    except StoreError as error:
        raise MachineError(f"{error}{_store_is_named()}") from error


def _store_is_named() -> str:
    """Where the name of the store comes from, for the end of a message about it."""
    context = click.get_current_context(silent=True)
    source = context and context.get_parameter_source("store")
    if source is ParameterSource.COMMANDLINE:
        return " (named by --store)"
    if os.environ.get("HARNESS_STORE", "").strip():
        return " (named by HARNESS_STORE)"
    return " (the default one; --store or HARNESS_STORE names another)"


@contextlib.contextmanager
def existing_store(place: str | None, *, write: bool = False, told: bool = True) -> Iterator[Store]:
    """The store of results for reading; if its file is missing, an empty one in memory.

    A missing file that was named is ``told`` on stderr: the name may be a wrong one.
    """
    from leaderboard.location import default_store_url, missing_file, store_url

    missing = missing_file(default_store_url() if place is None else store_url(place))
    if told and missing is not None and place is not None:
        text = f"note: {plain(str(missing))}: no such file, so nothing is recorded"
        click.echo(f"{text}{_store_is_named()}", err=True)
    with open_store(place if missing is None else _IN_MEMORY, write=write) as store:
        yield store


def problems_root(chosen: Path | None) -> Path:
    """The folder of packages: the one named, else the current folder's, else the shipped one.

    Raises:
        UsageError: there is no such folder.
    """
    candidates = [chosen] if chosen else [Path("problems"), *shipped_problems()]
    for folder in candidates:
        if folder.is_dir():
            return folder
    raise UsageError(f"no folder {candidates[0]}: name the problems' folder with --problems")


def shipped_problems() -> list[Path]:
    """Where the shipped packages are: in an installed harness, else beside it in a checkout."""
    package = Path(__file__).resolve().parents[1]
    return [package / "problems", package.parent / "problems"]


def load_all(root: Path) -> tuple[list[Problem], list[ProblemError]]:
    """The packages in ``root`` that load, by slug, and the errors of the others."""
    from harness.problem.format.load import load_problem, problem_folders

    good, broken = [], []
    for folder in problem_folders(root):
        try:
            good.append(load_problem(folder))
        except ProblemError as error:
            broken.append(error)
    return sorted(good, key=lambda each: each.slug), broken


@contextlib.contextmanager
def within(seconds: float | None, left: Collection[str], remedy: str) -> Iterator[None]:
    """End this block after ``seconds`` (None: never); then stderr names what is ``left``, if any.

    Raises:
        TimeOverError: something is left; the message says ``remedy``.
    """
    try:
        with signals.limited(seconds):
            yield
    except signals.OutOfTime as over:
        reason = str(over)
    else:
        return
    if left:
        for path in left:
            click.echo(f"not graded: {plain(path)}", err=True)
        raise TimeOverError(f"{reason}, and {len(left)} not graded; {remedy}")


@contextlib.contextmanager
def output_to(target: str) -> Iterator[TextIO]:
    """A text file to write to: ``target``, replaced as a whole at the end, or stdout for ``-``.

    Raises:
        UsageError, MachineError: it cannot be written; a file that was there is unchanged.
    """
    if target == "-":
        require_stdout()
        yield sys.stdout
        sys.stdout.flush()
        return
    with replacing_text(Path(target)) as file:
        yield file


def exit_code(verdicts: Iterable[Verdict]) -> int:
    """0 if all ``verdicts`` are ACCEPTED, 3 if one is INTERNAL_ERROR, else 1."""
    from harness.records.result import Verdict

    seen = set(verdicts)
    if Verdict.INTERNAL_ERROR in seen:
        return HarnessError.exit_code
    return 0 if seen <= {Verdict.ACCEPTED} else 1
