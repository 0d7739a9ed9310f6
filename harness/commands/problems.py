"""``problems``, ``init`` and ``verify``: packages, and a first file for one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from harness.commands.common import (
    device_option,
    inner_problems_option,
    load_all,
    problems_option,
    problems_root,
)
from harness.commands.complete import problem_slugs
from harness.errors import ProblemError
from harness.frameworks import FRAMEWORKS
from harness.text.plain import plain

STARTER_LANGUAGES = ("cuda", "triton", *FRAMEWORKS, "python")
"""Those of :data:`harness.starter.STARTERS`, which is not imported before it is needed."""


class _Language(click.Choice[str]):
    """A language that there are starters in; of PTX, which has none, it says where to begin."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name, as it is declared."""
        if value == "ptx":
            self.fail(
                "there is no starter in PTX: copy solutions/vector-add/samples/vector_add.ptx "
                "(docs/languages.md says what its header means)",
                param,
                ctx,
            )
        return super().convert(value, param, ctx)


@click.group(invoke_without_command=True)
@problems_option
@click.pass_context
def problems(context: click.Context, problems_dir: Path | None) -> None:
    """List the problems, or show one."""
    context.obj = problems_dir
    if context.invoked_subcommand is None:
        _list_problems(problems_dir)


@problems.command("list")
@inner_problems_option
@click.pass_obj
def problems_list(outer: Path | None, problems_dir: Path | None) -> None:
    """List the problems."""
    _list_problems(problems_dir or outer)


@problems.command("show")
@click.argument("problem", shell_complete=problem_slugs)
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
@inner_problems_option
@click.pass_obj
def problems_show(
    outer: Path | None, problem: str, as_json: bool, problems_dir: Path | None
) -> None:
    """Show PROBLEM: statement, entry point, parameters, tolerance, what is timed."""
    from rich.console import Console

    from harness.problem.format.load import find_problem
    from harness.report.problem import problem_json, render_problem

    found = find_problem(problems_root(problems_dir or outer), problem)
    if as_json:
        click.echo(problem_json(found))
    else:
        render_problem(found, Console())


def _list_problems(problems_dir: Path | None) -> None:
    from rich.console import Console

    from harness.report.problems import render_problems

    good, broken = load_all(problems_root(problems_dir))
    render_problems(good, Console())
    if broken:
        raise ProblemError([d for error in broken for d in error.diagnostics])


@click.command()
@click.argument("problem", shell_complete=problem_slugs)
@click.option(
    "--language",
    type=_Language(STARTER_LANGUAGES),
    default="cuda",
    show_default=True,
    help="What to write in.",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write [default: solutions/<problem>/<your name>/…].",
)
@click.option("--force", is_flag=True, help="Overwrite the file if there is one.")
@problems_option
def init(
    problem: str, language: str, output: Path | None, force: bool, problems_dir: Path | None
) -> None:
    """Write a first version of a solution to PROBLEM, which builds and runs, but is not right."""
    from harness.problem.format.load import find_problem
    from harness.starter import (
        author_name,
        check_command,
        default_path,
        starter_text,
        write_starter,
    )

    found = find_problem(problems_root(problems_dir), problem)
    path = output or default_path(found, language, author_name())
    command = check_command(path, found, language)
    write_starter(path, starter_text(found, language, command), force=force)
    click.echo(f"wrote {plain(str(path))}; next:\n    {plain(command)}")


@click.command()
@click.argument("names", metavar="[PROBLEM]...", nargs=-1, shell_complete=problem_slugs)
@device_option
@click.option("--dtype", help="What [VAR] stands for [default: all that are declared].")
@click.option(
    "--grades",
    type=click.IntRange(1, 1000),
    default=2,
    show_default=True,
    help="With how many random grades impostors and honest variants are tried.",
)
@click.option("--no-examples", is_flag=True, help="Do not build and grade examples and solutions.")
@click.option("--no-impostors", is_flag=True, help="Try honest variants alone: many grades sooner.")
@click.option("--seed", help="Seed of an earlier run, to draw the same cases again.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@problems_option
def verify(names: tuple[str, ...], problems_dir: Path | None, **choices: Any) -> None:
    """Let problem packages prove themselves: PROBLEM is a slug or a folder [default: all]."""
    from harness.problem.format.load import package_folders

    folders = package_folders(problems_root(problems_dir), names)
    # Not earlier: torch takes seconds to import, and what was wrong until here is known at once.
    from harness.commands.verify import verify_all

    sys.exit(verify_all(folders, **choices))
