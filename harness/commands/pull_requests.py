"""``ci`` and ``publish``: grade what a pull request submits, and publish the report."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from harness.ci.choices import CiChoices
from harness.commands import common
from harness.commands.cards import card_option, use_card
from harness.errors import UsageError
from harness.text.plain import plain

_author_option = click.option(
    "--author", metavar="LOGIN", help="Who sent it: files of others are refused."
)
_any_author_option = click.option(
    "--any-author", is_flag=True, help="Files of any authors are allowed."
)


@click.command(short_help="Grade the solutions that a pull request changes.")
@click.option("--base", metavar="REF", help="Branch to merge into [default: $GITHUB_BASE_REF].")
@click.option("--head", metavar="REF", default="HEAD", show_default=True, help="What is submitted.")
@common.device_option
@card_option
@common.functional_times_option(common.TAKE_FUNCTIONAL_TIMES)
@click.option("--check", "check_only", is_flag=True, help="Verdicts only, no timing.")
@_author_option
@_any_author_option
@click.option(
    "--allow-other-changes",
    "other_changes",
    is_flag=True,
    help="Leave files that are no submissions alone, instead of refusing them.",
)
@click.option(
    "--accept-not-executable",
    is_flag=True,
    help="NOT_EXECUTABLE_HERE is no failure: another machine will grade it.",
)
@click.option(
    "--out",
    type=common.FOLDER,
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
@common.limit_option
@common.sandbox_option
@common.pass_choices(CiChoices)
def ci(choices: CiChoices) -> None:
    """Grade the solutions that a pull request changes: problems from the base, files from the head.

    Run in a clone of the repository; the head is read as git objects, and never checked out. Exit
    code 2 also if the pull request changes what it must not.
    """
    from harness.ci.command import run
    from harness.ci.repository import Repository

    if choices.author is not None and choices.any_author:
        raise UsageError("--author and --any-author: one of them")
    use_card(choices.device)
    sys.exit(run(choices, Repository(Path.cwd())))


@click.command(short_help="Record and publish what a job's harness ci reported.")
@click.argument("report", type=common.PATH)
@click.option(
    "--head",
    metavar="COMMIT",
    help="Full name of the commit that the report must be about; needed to record.",
)
@click.option("--comment", "comment_to", metavar="FILE", help="Write a Markdown comment about it.")
@click.option("--measured-by", metavar="WHO", help="Record timed results as measured by WHO.")
@_author_option
@_any_author_option
@common.store_option
@common.problems_option
def publish(
    report: Path,
    head: str | None,
    comment_to: str | None,
    measured_by: str | None,
    author: str | None,
    any_author: bool,
    store: str | None,
    problems_dir: Path | None,
) -> None:
    """Publish REPORT, the report.json of harness ci, which may be forged.

    Its files are checked against the commit; its verdicts and times cannot be checked.
    """
    from harness.ci.policy import FOLDER
    from harness.ci.publish import check_author, check_head, comment_on, read_report, record
    from harness.ci.repository import Repository

    if author is not None and any_author:
        raise UsageError("--author and --any-author: one of them")
    if measured_by and not head:
        raise UsageError("--measured-by: name the commit with --head, so that it is checked")
    found = read_report(report)
    if head:
        check_head(found, head)
    sender = author
    if measured_by and author is None and not any_author:
        sender = found.author
        if not sender:
            raise UsageError(
                "the report names no author, so anybody may have sent these files: name who sent "
                "the pull request with --author, or allow files of others with --any-author"
            )
    if sender is not None:
        repository = Repository(Path.cwd())
        base = repository.commit("HEAD", "HEAD")
        check_author(found, sender, repository.folders(base, FOLDER))
    if measured_by and head:
        packages = common.load_all(common.problems_root(problems_dir))[0]
        problems = {package.slug: package for package in packages}
        repository = Repository(Path.cwd())
        commit = repository.commit(head, "--head")
        with common.open_store(store) as results:
            for path, reason in record(
                found,
                commit,
                repository,
                problems,
                measured_by=measured_by,
                known=lambda id_: next(results.named([id_]), None),
                add=results.add,
            ):
                click.echo(plain(f"{path}: {f'not recorded: {reason}' if reason else 'recorded'}"))
    if comment_to:
        with common.output_to(comment_to) as file:
            file.write(comment_on(found, measured_by))
