"""``doctor`` and ``completion``: what this machine can do, and what its shell may offer."""

from __future__ import annotations

from pathlib import Path

import click

from harness.commands.common import console
from harness.text.plain import json_text

PROGRAM = "harness"
COMPLETE_VARIABLE = "_HARNESS_COMPLETE"


@click.command(short_help="Say what this machine can do, and what is missing.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def doctor(as_json: bool) -> None:
    """Say what this machine can do, what is missing, and how to get it."""
    import json
    from dataclasses import asdict

    from harness.doctor.examine import examine, render_findings
    from leaderboard.location import default_store_url

    place = default_store_url()
    file = Path(place.removeprefix("sqlite:///")) if place.startswith("sqlite:///") else None
    findings = examine(store=file)
    if as_json:
        click.echo(json_text(json.dumps([asdict(finding) for finding in findings])))
    else:
        render_findings(findings, console())


@click.command(short_help="Print the script that completes commands in SHELL.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that makes SHELL complete commands, options and problems.

    For bash: eval "$(harness completion bash)", in ~/.bashrc to keep it.
    """
    from click.shell_completion import ShellComplete, get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    made = kind(context.find_root().command, {}, PROGRAM, COMPLETE_VARIABLE)
    # The base's, for bash's own looks for a bash on this machine, and warns of its age.
    click.echo(ShellComplete.source(made))
