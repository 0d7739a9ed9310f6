"""The arguments and options of ``submit`` and ``check``, and the record that holds them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from harness.commands import common
from harness.commands.cards import card_option, cards_option
from harness.commands.cluster import cluster_options
from harness.commands.complete import dtypes, problem_slugs
from harness.commands.stdin import SUFFIXES
from harness.errors import UsageError
from harness.records.effort import EFFORTS, Effort
from harness.text.plain import plain, quoted

if TYPE_CHECKING:
    from harness.grading.job import Options

F = TypeVar("F", bound=Callable[..., object])

_SEED = re.compile(r"[0-9a-fA-F]{1,64}")

problem_option = click.option(
    "--problem",
    shell_complete=problem_slugs,
    help="Slug, or path of a problem in another format, or of a folder of them [default: by path].",
)

tolerance_option = click.option(
    "--tolerance",
    type=click.Choice(["own", "measured"]),
    default="own",
    show_default=True,
    help="Of problems in other formats: the format's own, or measured from float64.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Arguments and options of ``submit`` and ``check``, and defaults of those that one has."""

    files: tuple[Path, ...]
    """Files to grade, and folders of solutions."""
    problem: str | None
    """Slug of the problem; None: from each file's path."""
    author: str | None
    """The author; None: from each file's path."""
    language: str | None
    """What standard input is written in, where ``-`` is a file; None: not named."""
    device: str
    """``auto``, ``cuda`` or ``cpu``."""
    dtype: str | None
    """The data type; None: the problem's first that the file is written for."""
    seed: str | None
    """Seed of the cases; None: a fresh one."""
    case: str | None
    """The one case to run, as text; None: all cases."""
    arch: str
    """GPU architecture to compile for where there is no GPU."""
    shrink: bool | None
    """Look for a smaller case than the one that fails; None: unless one case was asked for."""
    watch: bool
    """After grading, grade each file again when it is saved."""
    json_to: str | None
    """File for the results as JSON lines, ``-`` for stdout; None: no JSON."""
    problems_dir: Path | None
    """Folder of problem packages; None: the default one."""
    tolerance: str = "own"
    """``own`` or ``measured``: what of problems in other formats an answer may be off."""
    limit_s: float | None = None
    """Seconds of wall time after which the run is stopped; None: never."""
    cards: str | None = None
    """The cards of which each has a judge, as text; None: one device, in this process."""
    profile: bool = False
    """``check``: profile one call of each accepted file."""
    baselines: str = "first"
    """``submit``: ``all`` to time all baselines and show the best recorded solution."""
    effort: Effort = "full"
    """How much is spent on a grade."""
    quick: bool = False
    """``submit``: the same as the effort ``quick``."""
    functional_times: bool = False
    """``submit``: take times without a GPU, too."""
    resume: bool = False
    """``submit``: skip files whose result is recorded already."""
    store: str | None = None
    """``submit``: database URL or file of the store; None: the default one."""

    def options(self, *, timing: bool) -> Options:
        """The options of each grade."""
        from harness.grading.job import SHRINK_S, Options

        effort = self._effort()
        return Options(
            dtype=self.dtype,
            seed=self.seed,
            case=self.case,
            timing=timing,
            functional_times=self.functional_times,
            arch=self.arch,
            shrink_s=0.0 if self.shrink is False else SHRINK_S,
            smaller=self.shrink is True or self.case is None,
            all_baselines=self.baselines == "all",
            profile=self.profile,
            quick=effort == "quick",
            rough=effort == "verdict",
        )

    def _effort(self) -> Effort:
        """The effort, by whichever option it was named.

        Raises:
            UsageError: two options contradict each other.
        """
        if self.quick and self.effort == "verdict":
            raise UsageError("--quick and --effort verdict: one of them")
        if self.effort != "verdict":
            return "quick" if self.quick else self.effort
        for unwanted, option in (
            (self.baselines == "all", "--baselines all"),
            (self.profile, "--profile"),
            (self.shrink, "--shrink"),
        ):
            if unwanted:
                raise UsageError(f"{option}: --effort verdict leaves that out")
        return self.effort


def _architecture(_context: click.Context, _option: click.Parameter, value: str) -> str:
    # Refused here: a failed build for it would count against the submission.
    from harness.solution.architectures import ARCHITECTURE, KNOWN_ARCHITECTURES

    if not ARCHITECTURE.fullmatch(value) or value.rstrip("af") not in KNOWN_ARCHITECTURES:
        raise UsageError(
            f"--arch {plain(value, 60)}: no GPU has that architecture "
            f"(such as {', '.join(KNOWN_ARCHITECTURES)})"
        )
    return value


def _author(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    from harness.text.names import IN_WORDS, is_name

    if value is not None and not is_name(value):
        raise UsageError(f"--author {quoted(value)}: no name that can be recorded ({IN_WORDS})")
    return value


def checked_seed(
    _context: click.Context, _option: click.Parameter, value: str | None
) -> str | None:
    """The seed, if it can be one of an earlier grade, or a number."""
    if value is not None and not _SEED.fullmatch(value):
        raise UsageError(
            f"--seed {quoted(value)}: a number, or the seed that a result names "
            "(the digits 0 to 9 and a to f, at most 64)"
        )
    return value


def grading_options(command: F) -> F:
    """The options that submit and check share."""
    options = [
        click.argument("files", nargs=-1, required=True, type=common.PATH),
        problem_option,
        tolerance_option,
        click.option("--author", callback=_author, help="Author [default: from the path]."),
        click.option(
            "--language",
            type=click.Choice(list(SUFFIXES)),
            help="What standard input is in, where a file is named -.",
        ),
        common.device_option,
        card_option,
        cards_option,
        cluster_options,
        click.option(
            "--dtype",
            shell_complete=dtypes,
            help="What [VAR] stands for [default: the problem's first].",
        ),
        click.option(
            "--seed",
            callback=checked_seed,
            help="Seed of an earlier grade, to draw the same cases again.",
        ),
        click.option("--case", help='Run one case only, such as "m=33,n=1,k=7,alpha=-0.5".'),
        click.option(
            "--arch",
            default="sm_90",
            show_default=True,
            callback=_architecture,
            help="Without a GPU: the architecture to compile for as well.",
        ),
        click.option(
            "--shrink/--no-shrink",
            default=None,
            help="Look for a smaller case where one fails [default: yes, with --case no].",
        ),
        click.option(
            "--effort",
            type=click.Choice(EFFORTS),
            default="full",
            show_default=True,
            help="What to spend: verdict is for training, with a rough time that is never ranked.",
        ),
        click.option("--watch", is_flag=True, help="Grade a file again whenever it is saved."),
        common.limit_option,
        common.sandbox_option,
        click.option(
            "--json", "json_to", metavar="FILE|-", help="Write the result as JSON; - for stdout."
        ),
        common.problems_option,
    ]
    for option in reversed(options):
        command = option(command)
    return command
