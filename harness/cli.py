"""The commands: parse, call, print, exit. Everything heavy is imported inside the command."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness import __version__
from harness.errors import JudgeError, MachineError, ProblemError, UsageError
from harness.report.text import json_text, plain, plain_lines

if TYPE_CHECKING:
    from harness.comparison import Comparison
    from harness.job import Job, Options
    from harness.problem.model import Problem
    from harness.result import Result, Verdict
    from leaderboard.store import Store

_SUFFIXES = (".cu", ".py")
_INTERRUPTED = 130
_INTERNAL = 3

problems_option = click.option(
    "--problems",
    "problems_dir",
    type=click.Path(file_okay=False, path_type=Path),
    envvar="HARNESS_PROBLEMS",
    help="Folder of problem packages [default: ./problems, else the ones shipped].",
)
# Where the group has read the environment already: what is said nearer goes first.
_inner_problems_option = click.option(
    "--problems",
    "problems_dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of problem packages.",
)
store_option = click.option(
    "--store", envvar="HARNESS_STORE", help="Where results are kept: a database URL or a file."
)
_device_option = click.option(
    "--device",
    type=click.Choice(["auto", "cuda", "cpu"]),
    default="auto",
    show_default=True,
    help="Where to run.",
)


def _require_sandbox(_context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    """Refuse to grade where a submission could do what it must not."""
    if not wanted:
        return
    from harness.sandbox.selftest import breaches

    if found := breaches():
        raise MachineError(
            f"--require-sandbox: on this machine a submission can {', '.join(found)}; "
            "harness doctor says what to do"
        )


_sandbox_option = click.option(
    "--require-sandbox",
    is_flag=True,
    envvar="HARNESS_REQUIRE_SANDBOX",
    expose_value=False,
    callback=_require_sandbox,
    help="Refuse to grade where submissions cannot be confined.",
)


def _grading_options(command: Any) -> Any:
    """The options that submit and check share."""
    options = [
        click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path)),
        click.option("--problem", help="Slug [default: from solutions/<problem>/<author>/…]."),
        click.option("--author", help="Author [default: from the path]."),
        _device_option,
        click.option("--dtype", help="What [VAR] stands for [default: the problem's first]."),
        click.option("--seed", help="Seed of an earlier grade, to draw the same cases again."),
        click.option("--case", help='Run one case only, such as "m=33,n=1,k=7,alpha=-0.5".'),
        click.option(
            "--arch",
            default="sm_90",
            show_default=True,
            help="Without a GPU: the architecture to compile for as well.",
        ),
        click.option(
            "--no-shrink",
            is_flag=True,
            help="Report the first case that fails; do not look for a smaller one.",
        ),
        _sandbox_option,
        click.option(
            "--json", "json_to", metavar="FILE|-", help="Write the result as JSON; - for stdout."
        ),
        problems_option,
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="harness")
def cli() -> None:
    """Judge GPU kernels: compile, verify, time and rank submissions.

    Exit codes: 0 accepted, 1 judged and not accepted, 2 usage, 3 our or the machine's fault,
    4 no usable device, 130 interrupted.
    """


@cli.command()
@_grading_options
@click.option(
    "--baselines",
    type=click.Choice(["first", "all"]),
    default="first",
    show_default=True,
    help="Also time the problem's further baselines, and show the best recorded solution.",
)
@store_option
def submit(files: tuple[Path, ...], store: str | None, **choices: Any) -> None:
    """Grade FILES (or all solutions in a folder) and record the results."""
    if choices["case"]:  # a replay of one case is no entry
        sys.exit(_grade_all(files, choices, timing=False))
    with _store(store) as results:

        def keep(result: Result) -> Result:
            if choices["baselines"] == "all":
                from leaderboard.best import with_best

                result = with_best(result, results.results(result.problem.slug))
            results.add(result)
            return result

        sys.exit(_grade_all(files, choices, timing=True, keep=keep))


@contextlib.contextmanager
def _store(place: str | None) -> Iterator[Store]:
    """The store of results; what is wrong with it is a fault of the machine."""
    from leaderboard.store import Store, StoreError

    try:
        with Store.open(place) as store:
            yield store
    except StoreError as error:
        raise MachineError(str(error)) from error


@cli.command()
@_grading_options
@click.option(
    "--profile",
    is_flag=True,
    help="On a GPU with Nsight Compute: tell what each kernel of a call does.",
)
def check(files: tuple[Path, ...], **choices: Any) -> None:
    """Verdict only: no timing, nothing recorded."""
    sys.exit(_grade_all(files, choices, timing=False))


@cli.command()
@click.argument("first", metavar="A", type=click.Path(path_type=Path))
@click.argument("second", metavar="B", type=click.Path(path_type=Path))
@click.option("--problem", help="Slug [default: from solutions/<problem>/<author>/…].")
@click.option("--dtype", help="What [VAR] stands for [default: the first that fits both].")
@_device_option
@_sandbox_option
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@problems_option
def compare(
    first: Path,
    second: Path,
    dtype: str | None,
    device: str,
    as_json: bool,
    problems_dir: Path | None,
    **choices: Any,
) -> None:
    """Time A and B, two submissions to one problem, in turns: which is faster, by how much?

    Both are checked first. Nothing is recorded.
    """
    from harness.job import Options

    root = _problems_root(problems_dir)
    jobs = [_job(path, choices | {"author": None}, root) for path in (first, second)]
    options = Options(dtype=dtype)
    for job in jobs:
        _check_dtype(job.problem, options)

    # Not earlier: torch takes seconds to import, and what was wrong until here is known at once.
    from harness.comparison import Comparison
    from harness.grade import Grader
    from harness.judge.device import open_device
    from harness.report.progress import progress

    with Grader(open_device(device), progress()) as grader:
        outcome = grader.compare(jobs[0], jobs[1], options)
    if isinstance(outcome, Comparison):
        _show_comparison(outcome, as_json=as_json)
        return
    for result in outcome:
        if as_json:
            click.echo(json_text(result.to_json()))
        else:
            _show(result)
    sys.exit(_status([result.verdict for result in outcome]))


def _show_comparison(comparison: Comparison, *, as_json: bool) -> None:
    from rich.console import Console

    from harness.report.compare import render_comparison

    if as_json:
        click.echo(json_text(comparison.to_json()))
    else:
        render_comparison(comparison, Console())


def _grade_all(
    files: tuple[Path, ...], choices: dict[str, Any], *, timing: bool, keep: Any = lambda one: one
) -> int:
    """Grade one file after the other; 1 if any was not accepted. ``keep`` may add to a result."""
    from harness.job import SHRINK_S, Options

    problems = _problems_root(choices["problems_dir"])
    jobs = [_job(path, choices, problems) for path in _solution_files(files)]
    options = Options(
        dtype=choices["dtype"],
        seed=choices["seed"],
        case=choices["case"],
        timing=timing,
        arch=choices["arch"],
        shrink_s=0.0 if choices["no_shrink"] else SHRINK_S,
        every_baseline=choices.get("baselines") == "all",
        profile=choices.get("profile", False),
    )
    for job in jobs:
        _check_dtype(job.problem, options)

    # Not earlier: torch takes seconds to import, and what was wrong until here is known at once.
    from harness.grade import Grader
    from harness.judge.device import open_device
    from harness.problem.draws import parse_case
    from harness.report.progress import progress

    if options.case:
        for job in jobs:
            parse_case(job.problem, options.case)
    device = open_device(choices["device"])
    if options.profile:
        _require_profiler(device.kind)
    verdicts = []
    with (
        _json_writer(choices["json_to"]) as write_json,
        Grader(device, progress()) as grader,
    ):
        for graded in grader.grade_all(jobs, options):
            result = keep(graded)
            write_json(result)
            if choices["json_to"] != "-":
                _show(result)
            verdicts.append(result.verdict)
    return _status(verdicts)


def _require_profiler(kind: str) -> None:
    """Say that a profile cannot be had before anything is graded for it."""
    from harness.judge.profile import REMEDY, find_profiler

    if kind != "cuda":
        raise UsageError("--profile: only a GPU's kernels can be profiled, and this is the CPU")
    if find_profiler() is None:
        raise MachineError(REMEDY)


def _status(verdicts: Iterable[Verdict]) -> int:
    """The exit code that tells of all ``verdicts``."""
    from harness.result import Verdict

    seen = set(verdicts)
    if Verdict.INTERNAL_ERROR in seen:
        return _INTERNAL
    return 0 if seen <= {Verdict.ACCEPTED} else 1


def _check_dtype(problem: Problem, options: Options) -> None:
    from harness.problem.suggest import did_you_mean

    if options.dtype is not None and options.dtype not in problem.dtypes:
        hint = did_you_mean(options.dtype, problem.dtypes)
        allowed = ", ".join(problem.dtypes)
        raise UsageError(f"--dtype {options.dtype}: {problem.slug} has {allowed}{hint}")


def _solution_files(paths: tuple[Path, ...]) -> list[Path]:
    """Files as given; of folders, every solution file below them, in order."""
    found: list[Path] = []
    for path in paths:
        if os.path.isdir(path) and not path.is_symlink():  # noqa: PTH112 - is_dir() may raise
            below = sorted(p for p in path.rglob("*") if p.suffix in _SUFFIXES)
            if not below:
                raise UsageError(f"{plain(str(path))}: no .cu or .py file in this folder")
            found += below
        else:
            found.append(path)
    return found


def _job(path: Path, choices: dict[str, Any], problems: Path) -> Job:
    """A file, what it holds, and the problem it is meant for."""
    from harness.job import Job
    from harness.problem.load import find_problem
    from harness.solution.model import Invalid
    from harness.solution.read import read_solution

    if not os.path.lexists(path):
        raise UsageError(f"{plain(str(path))}: no such file")
    solution = read_solution(path, problem=choices["problem"], author=choices["author"])
    slug = choices["problem"] if isinstance(solution, Invalid) else solution.problem
    if slug is None and isinstance(solution, Invalid):
        raise UsageError(solution.message)
    if slug is None:
        raise UsageError(
            f"{plain(str(path))}: which problem? Put the file under solutions/<problem>/<author>/, "
            "or name it with --problem"
        )
    problem = find_problem(problems, slug)
    if not problem.complete:
        raise UsageError(f"{slug} cannot be graded yet: " + "; ".join(problem.missing))
    return Job(path=str(path), solution=solution, problem=problem)


@contextlib.contextmanager
def _json_writer(target: str | None) -> Iterator[Any]:
    """Writes each result as one JSON object on a line of its own."""
    if target is None:
        yield lambda _: None
    elif target == "-":
        yield lambda result: click.echo(json_text(result.to_json()))
    else:
        with _output(target) as file:
            yield lambda result: file.write(json_text(result.to_json()) + "\n")


def _show(result: Result) -> None:
    from rich.console import Console

    from harness.report.terminal import render_result

    render_result(result, Console())


@cli.group(invoke_without_command=True)
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


@problems.command("show")
@click.argument("problem")
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
@_inner_problems_option
@click.pass_obj
def problems_show(
    outer: Path | None, problem: str, as_json: bool, problems_dir: Path | None
) -> None:
    """Show PROBLEM: statement, entry point, parameters, tolerance, what is timed."""
    from rich.console import Console

    from harness.problem.load import find_problem
    from harness.report.problem import problem_json, render_problem

    found = find_problem(_problems_root(problems_dir or outer), problem)
    if as_json:
        click.echo(problem_json(found))
    else:
        render_problem(found, Console())


@cli.command()
@click.argument("problem")
@click.option(
    "--language",
    type=click.Choice(["cuda", "triton", "python"]),
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
    from harness.problem.load import find_problem
    from harness.starter import (
        author_name,
        check_command,
        default_path,
        starter_text,
        write_starter,
    )

    found = find_problem(_problems_root(problems_dir), problem)
    path = output or default_path(found, language, author_name())
    command = check_command(path, found, language)
    write_starter(path, starter_text(found, language, command), force=force)
    click.echo(f"wrote {plain(str(path))}; next:\n    {plain(command)}")


def _list_problems(problems_dir: Path | None) -> None:
    from rich.console import Console

    from harness.report.problems import render_problems

    good, broken = _load_all(_problems_root(problems_dir))
    render_problems(good, Console())
    if broken:
        raise ProblemError([d for error in broken for d in error.diagnostics])


def _load_all(root: Path) -> tuple[list[Problem], list[ProblemError]]:
    """Every package below ``root``: those that load, and what is wrong with the others."""
    from harness.problem.load import load_problem, problem_slugs

    good, broken = [], []
    for slug in problem_slugs(root):
        try:
            good.append(load_problem(root / slug))
        except ProblemError as error:
            broken.append(error)
    return good, broken


@cli.command()
@click.argument("problem", required=False)
@click.option("--csv", "csv_to", metavar="FILE|-", help="Write the board as CSV; - for stdout.")
@click.option("--json", "json_to", metavar="FILE|-", help="Write the board as JSON; - for stdout.")
@click.option("--all", "all_entries", is_flag=True, help="All entries, not the best per author.")
@store_option
@problems_option
def leaderboard(
    problem: str | None,
    csv_to: str | None,
    json_to: str | None,
    all_entries: bool,
    store: str | None,
    problems_dir: Path | None,
) -> None:
    """Print the boards: per problem, data type and device; ties share a rank."""
    import json

    from rich.console import Console

    from harness.report.terminal import render_board
    from leaderboard.ranking import ranked, rows, to_csv

    current = {p.slug: p.hash for p in _load_all(_problems_root(problems_dir))[0]}
    with _store(store) as results:
        frame = ranked(results.standings(problem), all_entries=all_entries, current=current)
    if csv_to:
        with _output(csv_to) as file:
            to_csv(frame, file)
    if json_to:
        with _output(json_to) as file:
            file.write(json_text(json.dumps(rows(frame), default=str)) + "\n")
    if "-" not in (csv_to, json_to):
        render_board(rows(frame), Console())


@cli.command()
@click.argument("problem", required=False)
@click.option("--out", default="-", metavar="FILE|-", help="File to write [default: stdout].")
@store_option
def export(problem: str | None, out: str, store: str | None) -> None:
    """Write all results, or those of PROBLEM, as JSON lines, which harness import reads."""
    from harness.exchange import write_lines

    with _store(store) as results, _output(out) as file:
        count = write_lines(results.results(problem), file)
    click.echo(f"{count} results", err=True)


@cli.command(name="import")
@click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@store_option
def import_(files: tuple[Path, ...], store: str | None) -> None:
    """Add the results in FILES, which harness export wrote, to the store.

    They are the word of whoever wrote the file. Nothing is imported if a line is no result; what is
    there already stays as it is.
    """
    from harness.exchange import read_lines

    count = sum(1 for path in files for _ in read_lines(path))
    with _store(store) as results:
        for path in files:
            for result in read_lines(path):
                results.add(result)
    click.echo(f"{count} results", err=True)


@cli.command()
@click.option(
    "--out",
    required=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder to write; a site that is there is replaced as a whole.",
)
@click.option("--all", "all_entries", is_flag=True, help="All entries, not the best per author.")
@click.option("--no-code", is_flag=True, help="Do not show the code of entries.")
@store_option
@problems_option
def site(
    out: Path, all_entries: bool, no_code: bool, store: str | None, problems_dir: Path | None
) -> None:
    """Write boards, problems and entries as a static web site, which needs no server."""
    from harness.site.build import build_site
    from leaderboard.ranking import ranked, rows, to_csv

    packages = _load_all(_problems_root(problems_dir))[0]
    with _store(store) as results:
        current = {p.slug: p.hash for p in packages}
        frame = ranked(results.standings(), all_entries=all_entries, current=current)
        counts = build_site(
            out,
            rows=rows(frame),
            problems=packages,
            named=results.named,
            write_csv=lambda file: to_csv(frame, file),
            code=not no_code,
        )
    click.echo(
        f"{plain(str(out))}: {counts.boards} boards, {counts.entries} entries, "
        f"{counts.problems} problems"
    )


@contextlib.contextmanager
def _output(target: str) -> Iterator[Any]:
    if target == "-":
        yield sys.stdout
        return
    try:
        file = open(target, "w", encoding="utf-8", newline="")  # noqa: SIM115 - closed below
    except OSError as error:
        raise UsageError(f"cannot write {plain(target)}: {error.strerror}") from error
    with file:
        yield file


@cli.command()
@click.argument("names", metavar="[PROBLEM]...", nargs=-1)
@_device_option
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
    from harness.verify.packages import package_folders

    folders = package_folders(_problems_root(problems_dir), names)
    # Not earlier: torch takes seconds to import, and what was wrong until here is known at once.
    from harness.verify.command import verify_all

    sys.exit(verify_all(folders, **choices))


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def doctor(as_json: bool) -> None:
    """Say what this machine can do, what is missing, and how to get it."""
    import json
    from dataclasses import asdict

    from rich.console import Console

    from harness.doctor import examine
    from harness.report.doctor import render_findings
    from leaderboard.location import default_store_url

    place = default_store_url()
    file = Path(place.removeprefix("sqlite:///")) if place.startswith("sqlite:///") else None
    findings = examine(store=file)
    if as_json:
        click.echo(json_text(json.dumps([asdict(finding) for finding in findings])))
    else:
        render_findings(findings, Console())


@cli.command()
@click.argument("names", metavar="[PROBLEM]...", nargs=-1)
@click.option(
    "--all", "everything", is_flag=True, help="Everything on the boards, up to date or not."
)
@_device_option
@_sandbox_option
@store_option
@problems_option
def regrade(
    names: tuple[str, ...],
    everything: bool,
    device: str,
    store: str | None,
    problems_dir: Path | None,
) -> None:
    """Grade again what the boards show of another version of its problem or of the harness.

    Only results of the device at hand, and only files that are where they were, unchanged.
    PROBLEM is a slug [default: all]. Exit code 1 also if a solution was skipped.
    """
    root = _problems_root(problems_dir)
    current = {problem.slug: problem for problem in _load_all(root)[0]}
    with _store(store) as results:
        recorded = [r for r in results.results() if not names or r.problem.slug in names]
        _check_slugs(set(names) - {r.problem.slug for r in recorded}, root)
        sys.exit(_regrade(recorded, current, device, results.add, everything=everything))


@cli.command()
@click.option(
    "--base", metavar="REF", help="What it is to be merged into [default: $GITHUB_BASE_REF]."
)
@click.option("--head", metavar="REF", default="HEAD", show_default=True, help="What is submitted.")
@_device_option
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
@_sandbox_option
def ci(
    author: str | None, any_author: bool, other_changes: bool, check_only: bool, **choices: Any
) -> None:
    """Grade the solutions that a pull request changes: problems from the base, files from the head.

    Run in a clone of the repository; the head is read as git objects, and never checked out. Exit
    code 2 also if the pull request changes what it must not.
    """
    from harness.ci.command import Choices, run
    from harness.ci.policy import Rules
    from harness.ci.repository import Repository

    if author is not None and any_author:
        raise UsageError("--author and --any-author: one of them")
    rules = Rules(author=author, any_author=any_author, other_changes=other_changes)
    wanted = Choices(rules=rules, timing=not check_only, **choices)
    sys.exit(run(wanted, Repository(Path.cwd())))


@cli.command()
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
            problems={p.slug: p.hash for p in _load_all(_problems_root(problems_dir))[0]},
            measured_by=measured_by,
        )
        with _store(store) as results:
            for path, reason in record(found, known, results.add):
                click.echo(plain(f"{path}: {f'not recorded: {reason}' if reason else 'recorded'}"))
    if comment_to:
        with _output(comment_to) as file:
            file.write(comment_on(found, measured_by))


def _check_slugs(names: Iterable[str], root: Path) -> None:
    from harness.problem.load import find_problem

    for name in sorted(names):
        find_problem(root, name)


def _regrade(
    recorded: list[Result], current: dict[str, Problem], device: str, keep: Any, *, everything: bool
) -> int:
    """Grade again what needs it, one line each; 1 if any was skipped or not accepted."""
    from itertools import groupby

    from harness.grade import Grader
    from harness.job import Options
    from harness.judge.device import open_device
    from harness.regrade import job_again
    from harness.report.progress import progress
    from harness.report.regrade import closing_line, regraded_line, skipped_line
    from harness.result import DeviceRef
    from leaderboard.outdated import outdated

    at_hand = open_device(device)
    old = outdated(
        recorded,
        current={slug: problem.hash for slug, problem in current.items()},
        harness=__version__,
        device=DeviceRef(kind=at_hand.kind, name=at_hand.name),
        everything=everything,
    )
    jobs: list[tuple[Result, Job]] = []
    for result in old:
        job = job_again(result, current)
        if isinstance(job, str):
            click.echo(skipped_line(result, job))
        else:
            jobs.append((result, job))
    verdicts = []
    with Grader(at_hand, progress()) as grader:
        for dtype, group in groupby(jobs, key=lambda each: each[0].dtype):
            together = list(group)
            graded = grader.grade_all([job for _, job in together], Options(dtype=dtype))
            for (before, _), after in zip(together, graded, strict=True):
                keep(after)
                click.echo(regraded_line(before, after))
                verdicts.append(after.verdict)
    skipped = len(old) - len(jobs)
    click.echo(closing_line(verdicts, skipped))
    return max(_status(verdicts), 1 if skipped else 0)


def _problems_root(chosen: Path | None) -> Path:
    shipped = Path(__file__).resolve().parents[1] / "problems"
    candidates = [chosen] if chosen else [Path("problems"), shipped]
    for folder in candidates:
        if folder.is_dir():
            return folder
    raise UsageError(f"no folder {candidates[0]}: name the problems' folder with --problems")


def main() -> None:
    """Entry point: runs a command and turns what is not a verdict into an exit code."""
    for stream in (sys.stdout, sys.stderr):  # µ and ± must not be an error where they are unknown
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        cli(standalone_mode=False)
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
        click.echo(f"error: {plain_lines(str(error))}", err=True)
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
