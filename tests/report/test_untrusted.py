"""Untrusted text through every renderer: nothing of it is interpreted by whoever reads it.

Each module of ``harness/report``, ``harness/ci``, ``harness/site`` and ``leaderboard`` is listed
with what it shows; one that is added must be listed, too.
"""

import csv
import io
import json
import logging
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from rich.console import Console
from support.corpus import rest_in_corpus
from support.hostile_words import (
    ALL,
    LINES,
    LITERALS,
    NASTY,
    accepted,
    complaint,
    filled,
    hostile_problem,
    not_accepted,
)

from harness import cli
from harness.ci.annotations import annotations
from harness.ci.changes import ChangeKind
from harness.ci.junit import junit
from harness.ci.markdown import block, code
from harness.ci.publish import comment_on
from harness.ci.report import Graded, Note, PullRequestReport
from harness.ci.summary import comment, summary
from harness.doctor.examine import Finding as Part
from harness.doctor.examine import State, render_findings
from harness.languages.build.machine_code import Instruction, Kernel, MachineCode
from harness.progress.progress import TerminalProgress
from harness.records.comparison import Comparison
from harness.records.measurement import Conditions, describe_conditions
from harness.records.profile import Profile
from harness.records.result import Result, Verdict
from harness.records.ruling import Ruling
from harness.report.board import render_board
from harness.report.change import render_change
from harness.report.compare import render_comparison
from harness.report.machine_code import machine_code_text
from harness.report.matrix import matrix_lines
from harness.report.models import render_models
from harness.report.problem import problem_json, render_problem, render_problems
from harness.report.profile import render_profile
from harness.report.regrade import closing_line, regraded_line, skipped_line
from harness.report.submissions import (
    render_submission,
    render_submissions,
    submission_json,
    submissions_json,
)
from harness.report.terminal import render_line, render_on_screen, render_result
from harness.site.build import build_site
from harness.text.plain import head, json_text, plain, plain_lines, tail, visible
from harness.verify.findings import DetectionResult, ExampleRun, PackageReport, Status
from harness.verify.render import render_report, render_total, reports_json
from leaderboard.csvfile import neutral
from leaderboard.entry import entry
from leaderboard.models import by_model, write_csv
from leaderboard.ranking import board, entries_frame, rows, standing, to_csv
from leaderboard.shapes import ShapesCsv, shape_rows
from leaderboard.store import Store
from leaderboard.timeline import Timeline

ROOT = Path(__file__).parents[2]
CONSOLES = ((20, False), (80, True), (10_000, False))
"""Width, and whether in colour: lines that are wrapped, a terminal, a log of a CI system."""


def on_consoles(render: Callable[[Console], None]) -> Iterator[str]:
    """What is printed on each."""
    for width, colour in CONSOLES:
        stream = io.StringIO()
        render(Console(file=stream, width=width, force_terminal=colour, legacy_windows=False))
        yield stream.getvalue()


def of_results(words: str) -> Iterator[str]:
    each = [accepted(words), *(not_accepted(v, words) for v in OTHERS)]
    for result in each:
        yield from on_consoles(lambda console, r=result: render_result(r, console))
        yield from on_consoles(lambda console, r=result: render_line(r, console))
        yield from on_consoles(lambda console, r=result: render_on_screen(r, console, "more"))
        for before in (accepted("x"), result):
            yield from on_consoles(lambda console, b=before, r=result: render_change(b, r, console))
        yield parsed(json_text(result.to_json()), json.loads(result.to_json()))
        yield parsed(json_text(result.to_json(indent=2)), json.loads(result.to_json()))


OTHERS = (Verdict.WRONG_ANSWER, Verdict.COMPILE_ERROR, Verdict.RUNTIME_ERROR)


def parsed(output: str, expected: Any) -> str:
    """``output``, which says what it would say without its escapes."""
    assert json.loads(output) == expected
    return output


def frames(words: str) -> Any:
    result = accepted(words)
    other = accepted("x")
    score = other.score.model_copy(update={"ranked": True, "unranked_reason": ""})
    return board([result, other.model_copy(update={"score": score, "id": "other"})])


def of_boards(words: str) -> Iterator[str]:
    shown = rows(frames(words))
    yield from on_consoles(lambda console: render_board(shown, console))
    yield json_text(json.dumps([row.cells() for row in shown], default=str))


def of_models(words: str) -> Iterator[str]:
    results = [accepted(words), *(not_accepted(v, words) for v in OTHERS)]
    compared = by_model(entries_frame(tuple(entry(each).values()) for each in results), ks=(1, 5))
    cells = [row.cells() for row in compared]
    assert cells
    yield from on_consoles(lambda console: render_models(cells, console))
    file = io.StringIO()
    write_csv(compared, file)
    for row in csv.reader(io.StringIO(file.getvalue())):
        for cell in row:
            assert not cell.lstrip().startswith(tuple("=+-@＝＋－＠")), cell
    yield file.getvalue()


def of_csv(words: str) -> Iterator[str]:
    file = io.StringIO()
    to_csv(frames(words), file)
    for row in csv.reader(io.StringIO(file.getvalue())):
        for cell in row:
            assert not cell.lstrip().startswith(tuple("=+-@＝＋－＠")), cell
            for part in cell.split(";")[1:]:
                assert not part.lstrip(" '\"").startswith(tuple("=+-@＝＋－＠")), cell
    yield file.getvalue()
    yield neutral(words)


def of_comparisons(words: str) -> Iterator[str]:
    comparison = filled(Comparison, words)
    yield from on_consoles(lambda console: render_comparison(comparison, console))
    yield parsed(json_text(comparison.to_json()), json.loads(comparison.to_json()))


def of_regrades(words: str) -> Iterator[str]:
    before, after = accepted(words), not_accepted(Verdict.RUNTIME_ERROR, words)
    yield regraded_line(before, after)
    yield regraded_line(before, before)
    yield skipped_line(before, words)
    yield closing_line([Verdict.ACCEPTED], 1)


def of_submissions(words: str) -> Iterator[str]:
    each = [accepted(words), not_accepted(Verdict.RUNTIME_ERROR, words)]
    rulings = [filled(Ruling, words), filled(Ruling, words).model_copy(update={"reason": ""})]
    yield from on_consoles(lambda console: render_submissions(each, rulings, console))
    yield from on_consoles(lambda console: render_submission(each[0], rulings, console))
    for output in (submissions_json(each, rulings), submission_json(each[1], rulings)):
        yield parsed(json_text(output), json.loads(output))


def of_verifications(words: str) -> Iterator[str]:
    tried = [
        DetectionResult(name=words, dtype=words, status=status, why=words, cases=1, applicable=1)
        for status in Status
    ]
    report = PackageReport(slug=words, device=words, seed=words, dtypes=(words,), impostors=tried)
    report.variants = tried
    report.examples = [ExampleRun(path=words, dtype=words, wanted=(words,), got=words)]
    report.error(words, words, words)
    report.warn(words, words)
    yield from on_consoles(lambda console: render_report(report, console))
    yield from on_consoles(lambda console: render_total([report], console))
    yield reports_json([report])


def of_machines(words: str) -> Iterator[str]:
    parts = [Part(name=words, state=state, detail=words, remedy=words) for state in State]
    yield from on_consoles(lambda console: render_findings(parts, console))


def of_problems(words: str) -> Iterator[str]:
    problem = hostile_problem(words)
    yield from on_consoles(lambda console: render_problem(problem, console))
    yield from on_consoles(lambda console: render_problems([problem], console))
    yield problem_json(problem)


def of_progress(words: str) -> Iterator[str]:
    stream = io.StringIO()
    # As wide as a real one: its moves of the cursor are rich's own, and go to the terminal alone.
    console = Console(file=stream, width=80, force_terminal=True, legacy_windows=False)
    bar = TerminalProgress(console)
    bar.overall(1, 2, words)
    bar.phase(words, 2)
    bar.advance(1, words)
    bar.finish()
    for move in ("\x1b[?25l", "\x1b[?25h", "\x1b[2K", "\x1b[1A", "\r"):
        stream = io.StringIO(stream.getvalue().replace(move, ""))
    yield stream.getvalue()


def of_profiles(words: str) -> Iterator[str]:
    profile = filled(Profile, words)
    yield from on_consoles(lambda console: render_profile(profile, console))


def of_conditions(words: str) -> Iterator[str]:
    yield plain(describe_conditions(filled(Conditions, words)))


def of_errors(words: str) -> Iterator[str]:
    """What ``harness`` says where there is no result."""
    yield f"error: {plain_lines(words)}"


def of_text(words: str) -> Iterator[str]:
    for limit in (None, 5, 40):
        yield plain(words, limit)
        yield plain_lines(words, limit)
    for cut in (head, tail):
        yield cut(words, 3)
        yield cut(words, 2, 7)
    yield visible(words)


COMMIT = "0" * 40


def pull_requests(words: str) -> Iterator[PullRequestReport]:
    """Reports with hostile words wherever the pull request has a say."""
    about = {
        "created": accepted("x").created,
        "harness": "0.1.0",
        "base": COMMIT,
        "merge_base": COMMIT,
        "head": COMMIT,
        "timed": True,
        "deleted": (words,),
        "ignored": (words,),
        "skipped": (Note(path=words, reason=words),),
    }
    path = "solutions/vector-add/alice/one.cu"
    each = [accepted(words), *(not_accepted(v, words) for v in OTHERS)]
    for result in each:
        problem = result.problem.model_copy(update={"slug": "vector-add"})
        names = {"author": "alice", "name": "one", "path": path}
        solution = result.solution.model_copy(update=names)
        own = result.model_copy(update={"problem": problem, "solution": solution})
        graded = Graded(path=path, kind=ChangeKind.RENAMED, old_path=words, result=own)
        yield PullRequestReport.of(graded=[graded], fault=words, **about)
    yield PullRequestReport.of(refused=[Note(path=words, reason=words)], **about)


def of_pull_requests(words: str) -> Iterator[str]:
    for report in pull_requests(words):
        yield from (summary(report), comment(report), comment_on(report, words), junit(report))
        yield parsed(json_text(report.to_json()), json.loads(report.to_json()))
        for line in annotations(report):
            assert "\n" not in line
            # What a log must not have from anybody else: one command, at the start.
            assert line.startswith("::error ")
            yield line.removeprefix("::")
    yield code(words)
    yield block(words)


def of_sites(words: str) -> Iterator[str]:
    """All pages; that no name becomes markup is the matter of tests/site."""
    words = words.encode("utf-8", "backslashreplace").decode()  # as a record keeps them
    result = accepted(words)
    with tempfile.TemporaryDirectory() as folder:
        entries = entries_frame([tuple(entry(result).values())])
        build_site(
            Path(folder) / "site",
            rows=rows(board([result])),
            problems=[hostile_problem(words)],
            named=lambda ids: [result] if result.id in ids else [],
            write_csv=lambda file: to_csv(frames(words), file),
            code=lambda _: words,
            timeline=Timeline(entries, standing(entries)),
            models=by_model(entries),
            machine_code=lambda _: sass(words),
        )
        # Another .txt is what was submitted, as it came.
        for pattern in ("*.html", "*.js", "*.json", "*.csv", "sass/*.txt"):
            for path in sorted(Path(folder).rglob(pattern)):
                yield path.read_text(encoding="utf-8")


def sass(words: str) -> MachineCode:
    """Machine code with hostile words where the compiler copies them from the source."""
    instructions = (
        Instruction(address="0000", text=words, line=1),
        Instruction(address="", text=words, line=0),
        Instruction(address="0010", text="EXIT", line=1),
    )
    kernels = (Kernel(name=words, instructions=instructions),)
    return MachineCode(compiler=words, kernels=kernels, whole=False)


def of_machine_code(words: str) -> Iterator[str]:
    yield machine_code_text(sass(words))


def of_shapes(words: str) -> Iterator[str]:
    result = accepted(words)
    file = io.StringIO()
    writer = ShapesCsv(file)
    for each in rows(board([result])):
        writer.write(shape_rows(each, result))
    for row in csv.reader(io.StringIO(file.getvalue())):
        for cell in row:
            assert not cell.lstrip().startswith(tuple("=+-@＝＋－＠")), cell
    yield file.getvalue()


def of_numbers(_: str) -> Iterator[str]:
    return iter(())


SHOWING = ("harness/report", "harness/ci", "harness/site", "leaderboard")

RENDERERS: dict[str, Callable[[str], Iterator[str]]] = {
    "harness/ci/annotations.py": of_pull_requests,
    "harness/ci/mismatch.py": of_pull_requests,
    "harness/ci/junit.py": of_pull_requests,
    "harness/ci/markdown.py": of_pull_requests,
    "harness/ci/publish.py": of_pull_requests,
    "harness/ci/report.py": of_pull_requests,
    "harness/ci/summary.py": of_pull_requests,
    "harness/report/board.py": of_boards,
    "harness/report/compare.py": of_comparisons,
    "harness/records/measurement.py": of_conditions,
    "harness/doctor/examine.py": of_machines,
    "harness/grading/benchmark.py": of_numbers,
    "harness/report/generation.py": of_results,
    "harness/report/machine_code.py": of_machine_code,
    "harness/report/matrix.py": of_results,
    "harness/report/models.py": of_models,
    "harness/text/numbers.py": of_numbers,
    "harness/report/change.py": of_results,
    "harness/report/maths.py": of_problems,
    "harness/report/problem.py": of_problems,
    "harness/report/tables.py": of_results,
    "harness/report/profile.py": of_profiles,
    "harness/progress/progress.py": of_progress,
    "harness/report/regrade.py": of_regrades,
    "harness/report/submissions.py": of_submissions,
    "harness/report/terminal.py": of_results,
    "harness/text/plain.py": of_text,
    "harness/verify/render.py": of_verifications,
    "harness/site/authors.py": of_sites,
    "harness/site/boards.py": of_sites,
    "harness/site/build.py": of_sites,
    "harness/site/charts.py": of_sites,
    "harness/site/facets.py": of_sites,
    "harness/site/highlight.py": of_sites,
    "harness/site/machine.py": of_sites,
    "harness/site/mathml.py": of_sites,
    "harness/site/models.py": of_sites,
    "harness/site/pages.py": of_sites,
    "harness/site/shapes.py": of_sites,
    "harness/site/side.py": of_sites,
    "harness/site/statement.py": of_sites,
    "harness/site/steps.py": of_sites,
    "harness/site/svg.py": of_sites,
    "leaderboard/csvfile.py": of_csv,
    "leaderboard/models.py": of_models,
    "leaderboard/ranking.py": of_boards,
    "leaderboard/shapes.py": of_shapes,
}
"""Which of the above shows what comes out of each module."""

SHOWS_NOTHING = {
    "harness/ci/changes.py": "reads what git says",
    "harness/ci/choices.py": "options, as the user gives them",
    "harness/ci/command.py": "prints by the others; its errors are those of all commands",
    "harness/ci/git.py": "runs git; its errors are those of all commands",
    "harness/ci/lines.py": "a number",
    "harness/ci/policy.py": "reasons, which the others show",
    "harness/ci/repository.py": "reads objects; its errors are those of all commands",
    "leaderboard/best.py": "makes a record of records",
    "leaderboard/board.py": "rows of boards; reports, the site and the CSV show them",
    "leaderboard/database.py": "a URL of the user's own",
    "leaderboard/bulk.py": "keeps records as rows",
    "leaderboard/entries.py": "keeps values of records; what it warns of, the store shows",
    "leaderboard/entry.py": "makes a few values of a record; boards show them",
    "leaderboard/failures.py": "what the database says, escaped",
    "leaderboard/history.py": "makes a record of records",
    "leaderboard/location.py": "a path of the user's own",
    "leaderboard/migrations/versions/v1.py": "tables",
    "leaderboard/migrations/versions/v2.py": "tables",
    "leaderboard/migrations/versions/v3.py": "tables",
    "leaderboard/migrations/versions/v4.py": "tables",
    "leaderboard/migrations/versions/v5.py": "tables",
    "leaderboard/migrations/versions/v6.py": "tables",
    "leaderboard/migrations/versions/v7.py": "tables",
    "leaderboard/origin.py": "chooses among entries and their names; boards show them",
    "leaderboard/outdated.py": "chooses records",
    "leaderboard/rows.py": "reads records; what is wrong with one, the store warns of",
    "leaderboard/rulings.py": "keeps records; its error names an id in ASCII",
    "leaderboard/schema.py": "tables; its errors are about versions",
    "leaderboard/sources.py": "bytes by their hash; its errors name an id in ASCII",
    "leaderboard/store.py": "keeps records; what it warns of is below",
    "leaderboard/spread.py": "numbers",
    "leaderboard/timeline.py": "rows of boards; the site shows them",
    "leaderboard/ties.py": "numbers",
    "harness/site/folder.py": "makes and replaces folders of the user's own",
}


def test_every_module_is_listed() -> None:
    there = {
        path.relative_to(ROOT).as_posix()
        for folder in SHOWING
        for path in (ROOT / folder).rglob("*.py")
        if path.name != "__init__.py"
    }
    unlisted = there - RENDERERS.keys() - SHOWS_NOTHING.keys()
    assert not unlisted, f"show hostile text with them, here: {sorted(unlisted)}"
    assert {path for path in RENDERERS if path.startswith(SHOWING)} <= there
    assert all((ROOT / path).is_file() for path in RENDERERS)


UNIQUE = sorted(set(RENDERERS.values()), key=lambda each: each.__name__)


@pytest.mark.parametrize("shows", rest_in_corpus(UNIQUE, always=6), ids=lambda each: each.__name__)
def test_nothing_is_interpreted(shows: Callable[[str], Iterator[str]]) -> None:
    for words in (LINES, WRAPPED):
        for output in shows(words):
            assert not complaint(output)


WRAPPED = "a" * 13 + " ::error::" + "b" * 300


@pytest.mark.parametrize("shows", rest_in_corpus(UNIQUE, always=6), ids=lambda each: each.__name__)
@settings(max_examples=3)
@given(words=NASTY.filter(str.strip))  # a ruling has a reason, not blanks alone
def test_no_mixture_of_hostile_words_is_interpreted(
    shows: Callable[[str], Iterator[str]], words: str
) -> None:
    for output in shows(words):
        assert not complaint(output)


def test_a_record_is_hostile_in_every_text() -> None:
    record = json.loads(accepted("EVIL").to_json())
    known = LITERALS | {"ACCEPTED"}

    def texts(value: Any, key: str) -> Iterator[tuple[str, str]]:
        if isinstance(value, dict):
            for name, inner in value.items():
                yield from texts(inner, name)
        elif isinstance(value, list):
            for inner in value:
                yield from texts(inner, key)
        elif isinstance(value, str):
            yield key, value

    for key, value in texts(record, ""):
        assert value in known | {"EVIL"} or key in ("created", "recorded_at"), (key, value)


def test_complaint_finds_what_would_be_interpreted() -> None:
    for output in (
        "\x1b[2J", "a\u202eb", "\x9b", "  ::error::x", "a ##[error]b", "##vso[x]", "\U0001f4a3",
    ):  # fmt: skip
        assert complaint(output)
    for output in ("std::error_code", "a::b::c", "x ::error::", "# [x]", "\x1b[1;31mred\x1b[0m"):
        assert not complaint(output)


def test_c_plus_plus_is_left_alone() -> None:
    for words in ("std::vector<int>", "error: no match for ns::error_code", "a ## b", "#define x"):
        assert plain(words) == words


@pytest.mark.parametrize("error", ["machine", "click"])
def test_what_is_no_verdict(
    error: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import click

    from harness.errors import MachineError

    def fails(**_: Any) -> None:
        raise MachineError(ALL) if error == "machine" else click.BadParameter(ALL)

    monkeypatch.setattr(cli, "cli", fails)
    with pytest.raises(SystemExit):
        cli.main()
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "x" in shown.err
    assert not complaint(shown.err)


def test_a_warning_of_the_store(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    import sqlite3

    file = tmp_path / "results.sqlite"
    with Store.open(str(file)) as store:
        store.add(accepted("x"))
    with sqlite3.connect(file) as connection:
        connection.execute(
            "UPDATE results SET id = ?, record = ?", (ALL.encode("utf-8", "replace"), "{")
        )
    with caplog.at_level(logging.WARNING), Store.open(str(file)) as store:
        assert list(store.results()) == []
    assert len(caplog.messages) == 1
    assert not complaint(caplog.messages[0])
    assert isinstance(accepted("x"), Result)


def test_a_tensor_is_shown_as_numbers() -> None:
    result = not_accepted(Verdict.WRONG_ANSWER, ALL)
    for line in matrix_lines(result.shrunk.tensors[0], 80):
        assert line.isascii()
