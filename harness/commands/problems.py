"""``problems`` and ``init``: the packages, and a first version of a solution to one."""

from __future__ import annotations

from pathlib import Path

import click

from harness.commands.common import FOLDER, console, load_all, problems_option, problems_root
from harness.commands.complete import problem_slugs
from harness.errors import ProblemError
from harness.frameworks import FRAMEWORKS
from harness.text.plain import plain

STARTER_LANGUAGES = ("cuda", "triton", *FRAMEWORKS, "python")
"""The languages of :data:`harness.starter.STARTERS`, which is imported by ``init`` only."""

# The group's option reads the environment; here that would override what the group was given.
_inner_problems_option = click.option(
    "--problems",
    "problems_dir",
    type=FOLDER,
    help="Folder of problem packages.",
)


class _Language(click.Choice[str]):
    """A language with starters; for PTX, which has none, the error names a sample to copy."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The language's name as declared."""
        if value == "ptx":
            self.fail(
                "there is no starter in PTX: copy solutions/vector-add/samples/vector_add.ptx "
                "(docs/reference/languages.md says what its header means)",
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
@_inner_problems_option
@click.pass_obj
def problems_list(outer: Path | None, problems_dir: Path | None) -> None:
    """List the problems."""
    _list_problems(problems_dir or outer)


@problems.command("show", short_help="Show PROBLEM: statement, entry point, tolerance and more.")
@click.argument("problem", shell_complete=problem_slugs)
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
@_inner_problems_option
@click.pass_obj
def problems_show(
    outer: Path | None, problem: str, as_json: bool, problems_dir: Path | None
) -> None:
    """Show PROBLEM: statement, entry point, parameters, tolerance, what is timed."""
    from harness.problem.format.load import find_problem
    from harness.report.problem import problem_json, render_problem

    found = find_problem(problems_root(problems_dir or outer), problem)
    if as_json:
        click.echo(problem_json(found))
    else:
        render_problem(found, console(prose=True))


def _list_problems(problems_dir: Path | None) -> None:
    from harness.report.problem import render_problems

    good, broken = load_all(problems_root(problems_dir))
    render_problems(good, console())
    if broken:
        raise ProblemError([d for error in broken for d in error.diagnostics])


@click.command(short_help="Write a first version of a solution to PROBLEM.")
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
    """Write a first version of a solution to PROBLEM, which builds and runs, but is not right.

    A .cu file names the CUDA libraries that it uses: // uses: cublasLt, cutlass
    """
    from harness import starter
    from harness.problem.format.load import find_problem

    found = find_problem(problems_root(problems_dir), problem)
    path = output or starter.default_path(found, language, starter.author_name())
    command = starter.check_command(path, found, language)
    starter.write_starter(path, starter.starter_text(found, language, command), force=force)
    click.echo(f"wrote {plain(str(path))}; next:\n    {plain(command)}")
