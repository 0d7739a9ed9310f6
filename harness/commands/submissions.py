"""``submissions``: list, show, delete and invalidate recorded results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands.common import PATH, console, existing_store, store_option
from harness.commands.complete import dtypes, problem_slugs, verdicts
from harness.errors import UsageError
from harness.text.names import key, shown
from harness.text.numbers import counted
from harness.text.output import replacing
from harness.text.plain import json_text, plain, plain_lines

if TYPE_CHECKING:
    from harness.records.result import Result
    from leaderboard.store import Store

_MAX_RESULTS = 10_000
_ids_argument = click.argument("ids", metavar="ID...", nargs=-1, required=True)


@click.group(short_help="List, show, delete or invalidate recorded results.")
def submissions() -> None:
    """List, show, delete or invalidate what submit has recorded."""


@submissions.command("list")
@click.option("--problem", shell_complete=problem_slugs, help="Of this problem only.")
@click.option("--author", help="Of this author only.")
@click.option("--verdict", type=str.upper, shell_complete=verdicts, help="With this verdict only.")
@click.option("--dtype", shell_complete=dtypes, help="In this data type only.")
@click.option(
    "--limit",
    type=click.IntRange(1, _MAX_RESULTS),
    default=20,
    show_default=True,
    help="How many at most.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
@store_option
def list_(
    problem: str | None,
    author: str | None,
    verdict: str | None,
    dtype: str | None,
    limit: int,
    as_json: bool,
    store: str | None,
) -> None:
    """List what is recorded, the newest first."""
    from harness.records.result import Verdict
    from harness.report.submissions import render_submissions, submissions_json
    from harness.text.suggest import did_you_mean
    from leaderboard.store import Which

    if verdict is not None and verdict not in set(Verdict):
        hint = did_you_mean(verdict, Verdict) or f" (one of {', '.join(Verdict)})"
        raise UsageError(f"--verdict {plain(verdict, 60)}: there is none of that name{hint}")
    with existing_store(store) as results:
        found = results.newest(Which(problem, author, verdict, dtype), limit)
        rulings = list(results.rulings([each.id for each in found]))
    if as_json:
        click.echo(json_text(submissions_json(found, rulings)))
    else:
        render_submissions(found, rulings, console())


@submissions.command(short_help="Show a result, its file or its machine code.")
@click.argument("id_", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print record and rulings as JSON.")
@click.option(
    "--source",
    is_flag=True,
    help="Show the submitted file instead, what would be hidden or interpreted as escapes.",
)
@click.option(
    "--sass",
    is_flag=True,
    help="Show the machine code of CUDA C++ or PTX instead, where the build cache here has it.",
)
@click.option(
    "--out",
    metavar="FILE",
    type=PATH,
    help="With --source: write the file as it was submitted, byte for byte; a new file.",
)
@store_option
def show(
    id_: str, as_json: bool, source: bool, sass: bool, out: Path | None, store: str | None
) -> None:
    """Show the result ID, as submit did; the first characters of an id will do."""
    from harness.report.submissions import render_submission, submission_json

    if source and as_json:
        raise UsageError("--source: shows the file and not its record; leave --json away")
    if sass and (source or as_json):
        raise UsageError("--sass: shows the machine code alone; leave --source and --json away")
    if out is not None and not source:
        raise UsageError("--out: only with --source")
    with existing_store(store) as results:
        (found,) = _named(results, [id_])
        rulings = list(results.rulings([found.id]))
        recorded = results.source(found.solution.hash) if source else None
    if source:
        _show_source(found, recorded, out)
    elif sass:
        _show_machine_code(found)
    elif as_json:
        click.echo(json_text(submission_json(found, rulings)))
    else:
        render_submission(found, rulings, console())


def _show_machine_code(result: Result) -> None:
    from harness.languages.build.cache import default_cache
    from harness.languages.build.cuda import SOURCE
    from harness.languages.build.machine_code import machine_code
    from harness.report.machine_code import machine_code_text

    if (code := machine_code(result, SOURCE, default_cache())) is None:
        raise UsageError(
            f"{plain(result.id, 40)}: no machine code of it here: it is no CUDA C++ or PTX, was "
            "compiled elsewhere or without nvcc, or there is no nvdisasm; grading it again keeps it"
        )
    click.echo(machine_code_text(code), nl=False)


def _show_source(result: Result, recorded: bytes | None, out: Path | None) -> None:
    from harness.languages.read import submitted_file

    file = submitted_file(result, recorded)
    if file is None:
        path = plain(result.solution.path, 200) or "unknown"
        raise UsageError(
            f"{plain(result.id, 40)}: the store does not have its file, as it was imported, "
            "published from a report, recorded by an older harness, or could not be read; nor is "
            f"it where it was and unchanged ({path})"
        )
    if out is None:
        text = plain_lines(file.decode("utf-8", "backslashreplace"))
        click.echo(text.removesuffix("\n"))
        return
    with replacing(out, new=True) as copy:
        copy.write(file)


@submissions.command(short_help="Delete results of your own, for good.")
@_ids_argument
@click.option("--author", help="Who you are [default: the author that init would name].")
@click.option("--yes", is_flag=True, help="Do not ask.")
@store_option
def delete(ids: tuple[str, ...], author: str | None, yes: bool, store: str | None) -> None:
    """Delete results of your own, for good; the first characters of an id will do.

    With a result go the older ones of the same file in its data type on its device: else deleting
    would bring back a better time that the file once had. What there is a ruling about stays.
    """
    from harness.report.submissions import render_submissions
    from harness.starter import author_name

    me = author_name() if author is None else author
    with existing_store(store, write=True) as results:
        named = _named(results, ids)
        for result in named:
            if key(result.solution.author) != key(me):
                whose = shown(result.solution.author) or "nobody"
                raise UsageError(
                    f"{plain(result.id, 40)} is by {whose}, and you are {plain(me, 60)}: delete "
                    "what is yours, or say with --author who you are"
                )
        doomed: dict[str, Result] = {}
        for result in named:
            same = _same_file(results, result)
            older = {each.id: each for each in same if each.created <= result.created}
            doomed |= {result.id: result} | older
        for ruling in results.rulings(doomed):
            raise UsageError(f"{plain(ruling.result, 40)} stays: there is a ruling about it")
        render_submissions(list(doomed.values()), [], console(stderr=True))
        count = counted(len(doomed), "result")
        if not yes:
            click.confirm(f"Delete {count} for good?", abort=True, err=True)
        results.delete(doomed)
    click.echo(f"{count} deleted")


@submissions.command(short_help="Rule, as the organiser, that results do not count.")
@_ids_argument
@click.option("--reason", help="Why; everybody can read it.")
@click.option("--by", "who", metavar="NAME", help="Your name [default: as init would name you].")
@click.option("--undo", is_flag=True, help="Let them count again.")
@store_option
def invalidate(
    ids: tuple[str, ...], reason: str | None, who: str | None, undo: bool, store: str | None
) -> None:
    """Rule, as the organiser, that results do not count: no board shows them, no score uses them.

    They stay recorded, with the ruling's author, date and reason.
    """
    from harness.records.ruling import Action, rule
    from harness.starter import author_name

    if not undo and not (reason or "").strip():
        raise UsageError("--reason: say why; it is kept and shown with the result")
    who = author_name() if who is None else who
    if not who.strip():
        raise UsageError("--by: a ruling needs the name of who made it")
    action = Action.REINSTATED if undo else Action.INVALIDATED
    with existing_store(store, write=True) as results:
        named = _named(results, ids)
        for result in named:
            if bool(_counting(results, [result])) == undo:
                state = "counts as it is" if undo else "does not count already (--undo lets it)"
                raise UsageError(f"{plain(result.id, 40)} {state}")
        for result in named:
            results.add_ruling(rule(result.id, action, who=who, reason=reason or ""))
            effect = "counts again" if undo else "does not count any more"
            click.echo(f"{plain(result.id, 40)} {effect}")
            others = [each for each in _same_file(results, result) if each.id != result.id]
            if (left := _counting(results, others)) and not undo:
                shown = ", ".join(plain(each.id, 40) for each in left[:5])
                count = counted(len(left), "result")
                click.echo(f"{count} of the same file still count: {shown}", err=True)


def _named(results: Store, ids: Sequence[str]) -> list[Result]:
    """The results whose ids are, or alone begin with, ``ids``: each once, in the order given.

    Raises:
        UsageError: there is no such result, or there are several.
    """
    found: dict[str, Result] = {}
    for begin in ids:
        like, shown = results.ids_like(begin) if begin else [], plain(begin, 60)
        if len(like) > 1:
            several = ", ".join(plain(each, 40) for each in like)
            raise UsageError(f"{shown}: which of {several}?")
        named = list(results.named(like))
        if not named:
            raise UsageError(f"no result's id begins with {shown!r}: harness submissions list")
        found |= {each.id: each for each in named}
    return list(found.values())


def _counting(results: Store, about: Sequence[Result]) -> list[Result]:
    """The results in ``about`` that count."""
    from harness.records.ruling import counts

    rulings = list(results.rulings([each.id for each in about]))
    return [e for e in about if counts([r for r in rulings if r.result == e.id])]


def _same_file(results: Store, result: Result) -> list[Result]:
    """The results of the same file and author, for the same problem, data type and device."""
    from leaderboard.store import Which

    if not result.solution.hash:  # the file could not be read
        return [result]
    which = Which(
        problem=result.problem.slug,
        author=result.solution.author,
        dtype=result.dtype,
        solution_hash=result.solution.hash,
        device_kind=result.device.kind,
        device_name=result.device.name,
    )
    return results.newest(which, _MAX_RESULTS)
