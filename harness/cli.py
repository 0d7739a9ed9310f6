"""The entry point: puts the commands together, and turns what is no verdict into an exit code."""

from __future__ import annotations

import io
import os
import sys

import click

from harness import __version__, signals
from harness.commands import (
    boards,
    compare,
    formats,
    grading,
    machine,
    new,
    problems,
    pull_requests,
    regrade,
    streams,
    submissions,
    verify,
)
from harness.commands.common import print_error
from harness.commands.limits import require_limits
from harness.errors import HarnessError, JudgeError, MachineError, UsageError
from harness.text.fault_log import log_fault
from harness.text.plain import plain_lines
from harness.text.system_errors import system_fault

_INTERRUPTED = 130
_INTERNAL = HarnessError.exit_code
_JUDGING = ("submit", "check", "compare", "verify", "regrade", "ci", "publish")
"""Commands whose exit code is a verdict, or which record."""

_JUDGE = (
    "harness check FILE gives a verdict, harness submit FILE takes times, too, and records them"
)
_RECORDED = "harness submissions list shows what is recorded"
_MEANT = {
    **dict.fromkeys(("run", "grade", "judge", "test", "eval", "evaluate", "build"), _JUDGE),
    **dict.fromkeys(("bench", "benchmark", "time", "upload"), _JUDGE),
    **dict.fromkeys(("board", "boards", "rank", "ranking", "scores"), "harness leaderboard"),
    **dict.fromkeys(("list", "ls", "show", "problem"), f"harness problems; {_RECORDED}"),
    **dict.fromkeys(("results", "result", "history", "log"), _RECORDED),
    **dict.fromkeys(("start", "starter", "template"), "harness init PROBLEM"),
    "create": "harness new problem SLUG, harness new contest DIR",
    **dict.fromkeys(("web", "html", "pages", "serve"), "harness site --out DIR"),
    "profile": "harness check FILE --profile",
    "watch": "harness check FILE --watch",
    "diff": "harness compare A B",
}
"""What people try that other tools have, and what to do here."""


class _Commands(click.Group):
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named; one of another tool's is told what there is here."""
        meant = _MEANT.get(args[0].lower())
        if meant and self.get_command(ctx, args[0]) is None:
            ctx.fail(f"No such command {args[0]!r}: {meant}")
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="harness")
@click.pass_context
def cli(context: click.Context) -> None:
    """Judge GPU kernels: compile, verify, time and rank submissions.

    Exit codes: 0 accepted, 1 judged and not accepted, 2 usage, 3 our or the machine's fault,
    4 no usable device, 130 interrupted (by SIGTERM: 143, by SIGHUP: 129).
    """
    try:
        os.getcwd()  # noqa: PTH109
    except OSError as error:
        raise MachineError(
            f"the current folder is gone or closed to this user ({error.strerror}): cd to another"
        ) from error
    if context.invoked_subcommand in _JUDGING:
        streams.go_on_without_stdout()
        require_limits()


for command in (
    grading.submit,
    grading.check,
    compare.compare,
    problems.problems,
    formats.formats,
    problems.init,
    new.new,
    verify.verify,
    boards.leaderboard,
    boards.site,
    boards.export,
    boards.import_,
    submissions.submissions,
    regrade.regrade,
    pull_requests.ci,
    pull_requests.publish,
    machine.doctor,
    machine.completion,
):
    cli.add_command(command)


@streams.guarded_streams()
def main() -> None:
    """Entry point: runs a command and turns what is not a verdict into an exit code."""
    try:
        signals.catch(_end_children)
        _run()
    except BaseException as error:
        if signals.cause() is None and not isinstance(error, click.Abort | KeyboardInterrupt):
            raise
        signals.leave()
        if (ended := signals.cause()) is not None:
            _end_children()  # what was being started just then is known to nobody
        click.echo(ended or "interrupted", err=True)
        sys.exit(ended.exit_code if ended else _INTERRUPTED)
    finally:
        signals.leave()


def _end_children() -> None:
    """End what this process has started; remove its folder for temporary files."""
    from harness.sandbox.ending import end_children

    end_children()


def _run() -> None:
    """Run a command; exits with what its errors say."""
    try:
        cli(
            prog_name=machine.PROGRAM,
            complete_var=machine.COMPLETE_VARIABLE,
            standalone_mode=False,
        )
    except click.exceptions.Exit as error:
        sys.exit(error.exit_code)
    except click.ClickException as error:
        told = io.StringIO()
        error.show(told)
        click.echo(plain_lines(told.getvalue().rstrip("\n")), err=True)
        sys.exit(UsageError.exit_code)
    except streams.StdoutLost:
        raise
    except JudgeError as error:
        print_error(error)
        sys.exit(error.exit_code)
    except Exception as error:
        if isinstance(error, click.Abort) or signals.cause() is not None:
            raise  # of an interrupt, whatever became of it
        if (fault := system_fault(error)) is not None:
            print_error(fault)
            sys.exit(fault.exit_code)
        click.echo(f"internal error: this is a fault of the harness; {log_fault(error)}", err=True)
        sys.exit(_INTERNAL)
