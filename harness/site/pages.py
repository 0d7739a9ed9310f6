"""The pages: templates filled with what is known. Everything is escaped unless it is our markup.

Text passes :func:`harness.text.plain.plain` on its way out, whatever it is, so that no control or
direction character of a submitter's reaches a page; then HTML's own characters are escaped.
"""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from harness.errors import UsageError
from harness.frameworks import FRAMEWORKS
from harness.problem import describe
from harness.problem.package import Problem
from harness.problem.signature import c_prototype, c_type, python_signature
from harness.records.measurement import describe_conditions
from harness.records.result import Result
from harness.report.board import speedup
from harness.report.problem import amounts
from harness.site import charts
from harness.site.boards import ENTRY_PLACES, PAGE_ROWS, Board, problem_file
from harness.site.statement import statement_html
from harness.starter import STARTERS, starter_text
from harness.text import names, numbers
from harness.text.plain import plain, plain_lines

HERE = Path(__file__).parent
FILES = ("style.css", "script.js")
"""What lies beside the pages, in ``static/``."""

_LANGUAGES = {
    "cuda": "CUDA C++",
    "ptx": "PTX",
    "triton": "Triton",
    "python": "PyTorch",
    "pytorch": "PyTorch",
    **{framework.name: framework.title for framework in FRAMEWORKS.values()},
}
_MAX_CASES = 200


class Pages:
    """Makes the text of each page; ``problems`` by slug are those whose packages are at hand."""

    def __init__(self, problems: Mapping[str, Problem]) -> None:
        self._environment = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            finalize=_harmless,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        self._environment.filters.update(
            lines=lambda text: Markup.escape(plain_lines(text)),
            speedup=speedup,
            seconds=numbers.seconds,
            seconds_interval=numbers.seconds_interval,
            ratio=numbers.ratio,
            flops=numbers.flops,
            flop_rate=numbers.flop_rate,
            bytes=numbers.bytes_,
            byte_rate=numbers.byte_rate,
            number=numbers.number,
            integer=numbers.integer,
            percent=lambda part: f"{part * 100:.0f} %",
            sort_key=_sort_key,
            language=lambda name: _LANGUAGES.get(name, name),
            title=lambda slug: problems[slug].title if slug in problems else slug,
            problem_file=problem_file,
            author=names.shown,
            c_type=c_type,
        )
        self._environment.globals.update(
            known=problems,
            page_rows=PAGE_ROWS,
            places=ENTRY_PLACES,
            charts=charts,
            describe=describe,
            describe_conditions=describe_conditions,
            amounts=amounts,
        )

    def index(self, boards: Sequence[Board]) -> str:
        """The first page: all boards, all problems."""
        return self._fill("index.html", root="", boards=boards)

    def board(
        self, board: Board, page: int, entries: Mapping[str, str], sources: Iterable[str]
    ) -> str:
        """A page of a board; ``entries`` names files of results, ``sources`` those with code."""
        return self._fill(
            "board.html",
            root="../",
            board=board,
            page=page,
            entries=entries,
            sources=frozenset(sources),
        )

    def problem(self, problem: Problem, boards: Sequence[Board]) -> str:
        """A problem: statement, entry points, parameters, starters, boards."""
        return self._fill(
            "problem.html",
            root="../",
            problem=problem,
            boards=boards,
            statement=statement_html(problem.statement),
            signatures=(c_prototype(problem), python_signature(problem) + " ..."),
            starters=_starters(problem),
        )

    def entry(self, result: Result, board: Board, *, rank: str, source: str | None) -> str:
        """An entry: charts, shapes, environment, and the code if it is at hand."""
        return self._fill(
            "entry.html",
            root="../",
            result=result,
            board=board,
            rank=rank,
            source=source,
            baseline=result.score.baseline if result.score else "",
            rows=result.measurements,
            cases=result.cases[:_MAX_CASES],
        )

    def _fill(self, template: str, **values: object) -> str:
        return self._environment.get_template(template).render(values)


def _harmless(value: object) -> object:
    return plain(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _sort_key(value: float | None) -> str:
    """A number as a script reads it; empty where it is missing."""
    return "" if value is None else f"{value:.9g}"


def _starters(problem: Problem) -> list[tuple[str, str, str]]:
    """Name of the language, of the file, and its contents, in each language that it suits."""
    found = []
    for language, starter in STARTERS.items():
        path = f"solutions/{problem.slug}/me/{starter.file}"
        try:
            text = starter_text(problem, language, f"harness check {shlex.quote(path)}")
        except UsageError:
            continue
        found.append((_LANGUAGES[language], starter.file, text))
    return found
