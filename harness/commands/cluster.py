"""``--cluster``: judges on the machines of a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.grading.cards import Cards
    from harness.progress.progress import Progress

F = TypeVar("F", bound=Callable[..., object])

_CLUSTER, _GPU, _JUDGES = "harness.cluster", "harness.cluster.gpu", "harness.cluster.judges"
_SANDBOX = "harness.cluster.sandbox"


def _kept(key: str) -> Callable[[click.Context, click.Parameter, object], None]:
    def keep(context: click.Context, _option: click.Parameter, value: object) -> None:
        if value is not None:
            context.meta[key] = value

    return keep


def cluster_options(command: F) -> F:
    """Give a command ``--cluster`` and what goes with it."""
    options = [
        click.option(
            "--cluster",
            metavar="auto|ADDRESS",
            expose_value=False,
            callback=_kept(_CLUSTER),
            help="Grade in a Ray cluster, with a judge on each GPU; auto: the one of this machine.",
        ),
        click.option(
            "--gpu",
            metavar="KIND",
            expose_value=False,
            callback=_kept(_GPU),
            help="With --cluster: on GPUs of this kind, such as H100 or a board's card.",
        ),
        click.option(
            "--judges",
            type=click.IntRange(1, 10_000),
            expose_value=False,
            callback=_kept(_JUDGES),
            help="With --cluster: how many [default: one for each GPU that is there now].",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def require_sandbox_there(context: click.Context) -> None:
    """Refuse machines of a cluster, too, on which submissions cannot be confined."""
    context.meta[_SANDBOX] = True


def wanted_cluster() -> str | None:
    """The cluster that the command names, if it does.

    Raises:
        UsageError: it has an option that goes with one, and names none.
    """
    context = click.get_current_context(silent=True)  # none in a process without a command
    if context is None:
        return None
    address: str | None = context.meta.get(_CLUSTER)
    for key, option in ((_GPU, "--gpu"), (_JUDGES, "--judges")):
        if address is None and key in context.meta:
            raise UsageError(f"{option}: goes with --cluster, which is not there")
    return address


def open_judges_in(device: str, shown: Progress | None, board: str | None) -> Cards:
    """Judges in the cluster that the command names; progress is ``shown``, else on stderr.

    Raises: as :func:`harness.grading.cluster.open_cluster`.
    """
    from harness.grading.cluster import open_cluster
    from harness.grading.cluster_room import Wanted
    from harness.progress.progress import progress

    meta = click.get_current_context().meta
    wanted = Wanted(
        address=meta[_CLUSTER],
        gpu=meta.get(_GPU, board),
        judges=meta.get(_JUDGES),
        require_sandbox=_SANDBOX in meta,
    )
    return open_cluster(device, wanted, shown or progress(), note)


def note(line: str) -> None:
    """Say on stderr what becomes of judges."""
    click.echo(f"note: {line}", err=True)
