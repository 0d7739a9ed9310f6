"""The entry point: puts the commands together, and turns what is no verdict into an exit code."""

from __future__ import annotations

import io
import sys
import tempfile
import traceback

import click

from harness import __version__
from harness.commands import (
    boards,
    compare,
    grading,
    machine,
    problems,
    pull_requests,
    regrade,
    submissions,
    verify,
)
from harness.commands.common import print_error
from harness.errors import JudgeError, UsageError
from harness.text.plain import plain_lines

_INTERRUPTED = 130
_INTERNAL = 3


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="harness")
def cli() -> None:
    """Judge GPU kernels: compile, verify, time and rank submissions.

    Exit codes: 0 accepted, 1 judged and not accepted, 2 usage, 3 our or the machine's fault,
    4 no usable device, 130 interrupted.
    """


for command in (
    grading.submit,
    grading.check,
    compare.compare,
    problems.problems,
    problems.init,
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


def main() -> None:
    """Entry point: runs a command and turns what is not a verdict into an exit code."""
    for stream in (sys.stdout, sys.stderr):  # µ and ± must not be an error where they are unknown
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
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
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(_INTERRUPTED)
    except BrokenPipeError:
        sys.exit(0)
    except JudgeError as error:
        print_error(error)
        sys.exit(error.exit_code)
    except Exception:
        with tempfile.NamedTemporaryFile(
            "w", prefix="harness-", suffix=".log", delete=False, encoding="utf-8"
        ) as log:
            traceback.print_exc(file=log)
        click.echo(
            f"internal error: this is a fault of the harness; details in {log.name}", err=True
        )
        sys.exit(_INTERNAL)
