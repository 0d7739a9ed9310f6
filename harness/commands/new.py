"""``new``: a problem from a signature, and a contest with a first problem."""

from __future__ import annotations

from pathlib import Path

import click

from harness.commands.common import FOLDER
from harness.errors import UsageError
from harness.text.names import IN_WORDS, is_name
from harness.text.plain import plain, quoted


@click.group()
def new() -> None:
    """Start a problem, or a contest of your own."""


@new.command(short_help="Write a first version of the problem SLUG.")
@click.argument("slug")
@click.option(
    "--signature",
    metavar="C",
    help='Parameters as in C: "const VAR a[m][k], VAR y[m], float alpha, size_t m, size_t k" '
    "[default: two vectors in, one out].",
)
@click.option("--title", help="For people [default: from the slug].")
@click.option(
    "--problems",
    "problems_dir",
    type=FOLDER,
    envvar="HARNESS_PROBLEMS",
    default=Path("problems"),
    help="Folder of problem packages [default: ./problems].",
)
def problem(slug: str, signature: str | None, title: str | None, problems_dir: Path) -> None:
    """Write a first version of the problem SLUG, which can be graded, from a signature.

    Until you say something else, an output is the sum of the inputs of its shape.
    """
    from harness.starter.files import write_folder
    from harness.starter.package import SIGNATURE, declared, package_files, title_of

    if not is_name(slug):
        raise UsageError(f"{quoted(slug)}: no name of a problem ({IN_WORDS})")
    folder = problems_dir / slug
    parameters = declared(SIGNATURE if signature is None else signature)
    write_folder(folder, package_files(slug, title or title_of(slug), parameters))
    shown = plain(str(folder))
    click.echo(
        f"wrote {shown}: problem.md, reference.py, baselines/pytorch.py; next:\n"
        f"    say in {shown}/problem.md and reference.py what is to be computed\n"
        f"    harness verify {plain(slug)}\n"
        f"    harness init {plain(slug)}"
    )


@new.command(short_help="Write a repository for a contest into DIR.")
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option(
    "--harness",
    "harness_",
    metavar="OWNER/REPOSITORY[@REF]",
    help="The harness on GitHub, and the release that the contest runs [default: where this one "
    "was cloned from, at this version].",
)
def contest(folder: Path, harness_: str | None) -> None:
    """Write a repository for a contest into DIR: a first problem, workflows, a page of boards."""
    from harness.starter.contest import FIRST, pinned, write_contest

    repository, ref = pinned(harness_)
    write_contest(folder, repository, ref)
    shown = plain(str(folder))
    click.echo(
        f"wrote {shown}: problems/{FIRST}, solutions/, README.md, .github/workflows/, which run "
        f"{plain(repository)}@{plain(ref)}; next:\n"
        f"    cd {shown} && git init -b main && git add -A && git commit -m Contest\n"
        "    push it to GitHub, and let GitHub Actions be the source of its Pages (README.md)"
    )
