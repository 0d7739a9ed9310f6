"""``ci`` and ``publish``: what a pull request submits, and a report of that."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from harness.commands.common import (
    device_option,
    load_all,
    open_store,
    output_to,
    problems_option,
    problems_root,
    sandbox_option,
    store_option,
)
from harness.errors import UsageError
from harness.text.plain import plain


@click.command()
@click.option(
    "--base", metavar="REF", help="What it is to be merged into [default: $GITHUB_BASE_REF]."
)
@click.option("--head", metavar="REF", default="HEAD", show_default=True, help="What is submitted.")
@device_option
@click.option("--check", "check_only", is_flag=True, help="Verdicts only, no timing.")
@click.option("--author", metavar="NAME", help="Whose files alone may change [default: any one's].")
@click.option("--any-author", is_flag=True, help="Files of several authors may change.")
@click.option(
    "--allow-other-changes",
    "other_changes",
    is_flag=True,
    help="Leave files that are no submissions alone, instead of refusing them.",
)
@click.option(
    "--accept-not-executable",
    is_flag=True,
    help="NOT_EXECUTABLE_HERE is no failure: another machine will tell.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("build/ci"),
    show_default=True,
    help="Folder for summary.md, comment.md, junit.xml and report.json.",
)
@click.option(
    "--annotations/--no-annotations",
    "annotate",
    default=None,
    help="Print failures as commands that mark lines [default: if GITHUB_ACTIONS is true].",
)
@sandbox_option
def ci(
    author: str | None, any_author: bool, other_changes: bool, check_only: bool, **choices: Any
) -> None:
    """Grade the solutions that a pull request changes: problems from the base, files from the head.

    Run in a clone of the repository; the head is read as git objects, and never checked out. Exit
    code 2 also if the pull request changes what it must not.
    """
    from harness.ci.command import CiChoices, run
    from harness.ci.policy import Rules
    from harness.ci.repository import Repository

    if author is not None and any_author:
        raise UsageError("--author and --any-author: one of them")
    rules = Rules(author=author, any_author=any_author, other_changes=other_changes)
    wanted = CiChoices(rules=rules, timing=not check_only, **choices)
    sys.exit(run(wanted, Repository(Path.cwd())))


@click.command()
@click.argument("report", type=click.Path(path_type=Path))
@click.option(
    "--head",
    metavar="COMMIT",
    help="Full name of the commit that the report must be about; needed to record.",
)
@click.option(
    "--comment", "comment_to", metavar="FILE", help="Write a comment about it as Markdown."
)
@click.option(
    "--measured-by",
    metavar="WHO",
    help="Record its timed results, with WHO as the one whose word they are.",
)
@store_option
@problems_option
def publish(
    report: Path,
    head: str | None,
    comment_to: str | None,
    measured_by: str | None,
    store: str | None,
    problems_dir: Path | None,
) -> None:
    """Take over REPORT, the report.json of harness ci, which may come from anybody.

    It is checked against its schema and the commit; its verdicts and times are the word of whoever
    controlled the machine that made it.
    """
    from harness.ci.publish import Trusted, check_head, comment_on, read_report, record
    from harness.ci.repository import Repository

    found = read_report(report)
    if head:
        check_head(found, head)
    if measured_by:
        if not head:
            raise UsageError("--measured-by: name the commit with --head, so that it is checked")
        repository = Repository(Path.cwd())
        known = Trusted(
            head=repository.commit(head, "--head"),
            repository=repository,
            problems={p.slug: p.hash for p in load_all(problems_root(problems_dir))[0]},
            measured_by=measured_by,
        )
        with open_store(store) as results:
            for path, reason in record(found, known, results.add):
                click.echo(plain(f"{path}: {f'not recorded: {reason}' if reason else 'recorded'}"))
    if comment_to:
        with output_to(comment_to) as file:
            file.write(comment_on(found, measured_by))
