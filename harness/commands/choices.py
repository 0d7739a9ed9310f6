"""The arguments and options of ``submit`` and ``check``, and the record that holds them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from harness.commands import common
from harness.commands.complete import dtypes, problem_slugs
from harness.commands.stdin import SUFFIXES
from harness.errors import UsageError
from harness.text.plain import plain

if TYPE_CHECKING:
    from harness.grading.job import Options

F = TypeVar("F", bound=Callable[..., object])

problem_option = click.option(
    "--problem",
    shell_complete=problem_slugs,
    help="Slug, or the path of one in a foreign format [default: from solutions/<problem>/…].",
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
    limit_s: float | None = None
    """Seconds of wall time after which the run is stopped; None: never."""
    profile: bool = False
    """``check``: profile one call of each accepted file."""
    baselines: str = "first"
    """``submit``: ``all`` to time all baselines and show the best recorded solution."""
    quick: bool = False
    """``submit``: take times on a GPU with a smaller budget."""
    functional_times: bool = False
    """``submit``: take times without a GPU, too."""
    resume: bool = False
    """``submit``: skip files whose result is recorded already."""
    store: str | None = None
    """``submit``: database URL or file of the store; None: the default one."""

    def options(self, *, timing: bool) -> Options:
        """The options of each grade."""
        from harness.grading.job import SHRINK_S, Options

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
            quick=self.quick,
        )


def _architecture(_context: click.Context, _option: click.Parameter, value: str) -> str:
    # Refused here: a failed build for it would count against the submission.
    from harness.solution.model import ARCHITECTURE, KNOWN_ARCHITECTURES

    if not ARCHITECTURE.fullmatch(value) or value.rstrip("af") not in KNOWN_ARCHITECTURES:
        raise UsageError(
            f"--arch {plain(value, 60)}: no GPU has that architecture "
            f"(such as {', '.join(KNOWN_ARCHITECTURES)})"
        )
    return value


def grading_options(command: F) -> F:
    """The options that submit and check share."""
    options = [
        click.argument("files", nargs=-1, required=True, type=common.PATH),
        problem_option,
        click.option("--author", help="Author [default: from the path]."),
        click.option(
            "--language",
            type=click.Choice(list(SUFFIXES)),
            help="What standard input is in, where a file is named -.",
        ),
        common.device_option,
        click.option(
            "--dtype",
            shell_complete=dtypes,
            help="What [VAR] stands for [default: the problem's first].",
        ),
        click.option("--seed", help="Seed of an earlier grade, to draw the same cases again."),
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
