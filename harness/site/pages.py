"""The pages: templates filled with what is known. Everything is escaped unless it is our markup.

Text passes :func:`harness.text.plain.plain` on its way out, whatever it is, so that no control or
direction character of a submitter's reaches a page; then HTML's own characters are escaped.
"""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from harness.errors import UsageError
from harness.frameworks import FRAMEWORKS
from harness.languages.build.machine_code import MachineCode
from harness.problem import describe
from harness.problem.package import Problem
from harness.problem.signature import c_prototype, c_type, python_signature
from harness.records.measurement import describe_conditions
from harness.records.result import Result
from harness.report.board import speedup
from harness.report.problem import amounts, says_signatures
from harness.site import charts, steps
from harness.site.authors import Author
from harness.site.boards import (
    ENTRY_PLACES,
    Board,
    author_name,
    entry_stem,
    index_links,
    on_index,
    problem_file,
)
from harness.site.facets import Facets, of_board, of_problem
from harness.site.highlight import highlighted
from harness.site.machine import panes
from harness.site.models import ModelTable
from harness.site.shapes import ShapeTable
from harness.site.statement import statement_html
from harness.starter import STARTERS, starter_text
from harness.text import names, numbers
from harness.text.plain import plain
from leaderboard.board import BoardRow

if TYPE_CHECKING:
    from leaderboard.models import ModelRow

HERE = Path(__file__).parent
FILES = ("style.css", "script.js", "compare.js")
"""What lies beside the pages, in ``static/``."""

_LANGUAGES = {
    "cuda": "CUDA C++",
    "ptx": "PTX",
    "triton": "Triton",
    "python": "PyTorch",
    "pytorch": "PyTorch",
    **{framework.name: framework.title for framework in FRAMEWORKS.values()},
}
_SUFFIXES = {"cuda": ".cu", "ptx": ".ptx"}
_MAX_CASES = 200
_MAX_HISTORY = 40
_LATELY = 6


class Pages:
    """Makes the text of each page.

    Args:
        problems: those whose packages are at hand, by slug.
        boards: all of them.
        authors: names of those who have a page.
        models: whether there is a page of models.
    """

    def __init__(
        self,
        problems: Mapping[str, Problem],
        boards: Sequence[Board] = (),
        *,
        authors: Iterable[str] = (),
        models: bool = False,
    ) -> None:
        self._problems, self._boards = problems, boards
        self._own = {slug: [each for each in boards if each.problem == slug] for slug in problems}
        self._of_boards = {
            each.name: of_board(each, problems.get(each.problem), language_of) for each in boards
        }
        self._of_problems = {
            slug: of_problem(problem, self._own[slug], language_of)
            for slug, problem in problems.items()
        }
        self._facets = Facets([*self._of_boards.values(), *self._of_problems.values()])
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
            entries=lambda count: numbers.counted(count, "entry", "entries"),
            times=_times,
            percent=lambda part: f"{part * 100:.0f} %",
            sort_key=_sort_key,
            language=language_of,
            title=self.title,
            gpu=lambda name: name.removeprefix("NVIDIA "),
            day=lambda date: date.strftime("%Y-%m-%d"),
            problem_file=problem_file,
            author=names.shown,
            c_type=c_type,
        )
        self._environment.globals.update(
            known=problems,
            by=_By(authors),
            on=_on,
            has_models=models,
            places=ENTRY_PLACES,
            charts=charts,
            steps=steps,
            describe=describe,
            describe_conditions=describe_conditions,
            amounts=amounts,
        )

    def title(self, slug: str) -> str:
        """The title of a problem, or what names it."""
        return self._problems[slug].title if slug in self._problems else slug

    def index(self, page: int) -> str:
        """One of the first pages: all boards, and on the first all problems with who leads."""
        boards, tokens = self._boards, self._facets.tokens
        leads = [(board, lead) for board in boards for lead in board.leads[-1:]]
        leads.sort(key=lambda each: each[1].date, reverse=True)
        return self._fill(
            "index.html",
            root="",
            boards=on_index(boards, page),
            page=page,
            links=index_links(boards, page),
            own=self._own,
            facets=self._facets,
            of_boards={name: tokens(each) for name, each in self._of_boards.items()},
            of_problems={slug: tokens(each) for slug, each in self._of_problems.items()},
            leads=leads[:_LATELY],
        )

    def board(
        self,
        board: Board,
        page: int,
        entries: Mapping[str, str],
        sources: Iterable[str],
        *,
        shapes: bool = False,
    ) -> str:
        """A page of a board.

        Args:
            board: the board.
            page: which page, from 0.
            entries: how the files of results begin, of those that have some.
            sources: ids of those with code.
            shapes: whether there is a page of its times by shape.
        """
        facets = Facets([{"language": [language_of(each) for each in board.languages]}])
        return self._fill(
            "board.html",
            root="../",
            board=board,
            page=page,
            links=board.links(page),
            entries=entries,
            sources=frozenset(sources),
            facets=facets,
            of_rows={
                each: facets.tokens({"language": [language_of(each)]}) for each in board.languages
            },
            shapes=shapes,
        )

    def shapes(self, board: Board, table: ShapeTable, entries: Mapping[str, str]) -> str:
        """A board's times by shape; ``entries`` as for :meth:`board`."""
        return self._fill("shapes.html", root="../", board=board, table=table, entries=entries)

    def author(self, author: Author, page: int, entries: Mapping[str, str]) -> str:
        """A page of an author; ``entries`` as for :meth:`board`."""
        return self._fill(
            "author.html",
            root="../",
            author=author,
            page=page,
            links=author.links(page),
            entries=entries,
        )

    def models(self, rows: Sequence["ModelRow"]) -> str:
        """The page of models and their samples."""
        return self._fill("models.html", root="", tables=ModelTable.of(rows))

    def compare(self) -> str:
        """The page that shows two entries side by side, by its script."""
        return self._fill("compare.html", root="")

    def problem(self, problem: Problem) -> str:
        """A problem: statement, entry points, parameters, starters, boards."""
        return self._fill(
            "problem.html",
            root="../",
            problem=problem,
            boards=self._own[problem.slug],
            facets=self._facets,
            statement=statement_html(problem.statement),
            signatures=()
            if says_signatures(problem)
            else (
                highlighted(c_prototype(problem), "cuda").markup,
                highlighted(python_signature(problem) + " ...", "python").markup,
            ),
            starters=_starters(problem),
        )

    def entry(
        self,
        result: Result,
        board: Board,
        row: BoardRow,
        *,
        source: str | None,
        before: Sequence[BoardRow] = (),
        raw: bool = True,
        machine: bool = False,
    ) -> str:
        """An entry: charts, shapes, code if it is at hand, history, environment.

        Args:
            result: the record.
            board: where it stands.
            row: the entry there.
            source: the code, None where there is none to show.
            before: accepted results of files of this name by its author, the newest first.
            raw: whether the record lies beside the page.
            machine: whether there is a page of its machine code.
        """
        stem, first = entry_stem(board, result.id), board.rows[0].result
        return self._fill(
            "entry.html",
            root="../",
            result=result,
            board=board,
            row=row,
            rank=board.rank(row),
            stem=stem,
            first="" if first == result.id else entry_stem(board, first),
            source=None if source is None else highlighted(source, result.language),
            file=result.solution.name + _SUFFIXES.get(result.language, ".py"),
            baseline=result.score.baseline if result.score else "",
            rows=result.measurements,
            cases=result.cases[:_MAX_CASES],
            before=before[:_MAX_HISTORY],
            earlier=len(before),
            raw=raw,
            machine=machine,
        )

    def machine(
        self, result: Result, board: Board, row: BoardRow, code: MachineCode, source: str
    ) -> str:
        """The machine code of an entry beside its ``source``."""
        return self._fill(
            "machine.html",
            root="../",
            result=result,
            board=board,
            row=row,
            stem=entry_stem(board, result.id),
            code=code,
            panes=panes(code, source),
        )

    def _fill(self, template: str, **values: object) -> str:
        return self._environment.get_template(template).render(values)


def language_of(name: str) -> str:
    """What a language is called."""
    return _LANGUAGES.get(name, name)


def _times(value: float) -> str:
    """``0.900×``: a speed-up without its interval."""
    return f"{value:.0f}×" if value >= 1000 else f"{value:#.3g}×".replace(".×", "×")


def _harmless(value: object) -> object:
    return plain(value) if isinstance(value, str) and not isinstance(value, Markup) else value


class _By:
    """An author's name, as a link where there is a page; a call, as long tables have many."""

    def __init__(self, authors: Iterable[str]) -> None:
        self._authors = frozenset(authors)

    def __call__(self, author: str, root: str) -> str:
        name = names.shown(author) or "nobody named"
        if author not in self._authors:
            return name
        return Markup('<a href="{}authors/{}.html">{}</a>').format(root, author_name(author), name)


def _on(date: datetime) -> Markup:
    """A day, in which a machine reads the time, too."""
    day, time = date.strftime("%Y-%m-%d %H:%M:%S").split(" ")
    return Markup(f'<time datetime="{day}T{time}Z">{day}</time>')  # noqa: S704 - digits alone


def _sort_key(value: float | None) -> str:
    """A number as a script reads it; empty where it is missing."""
    return "" if value is None else f"{value:.9g}"


def _starters(problem: Problem) -> list[tuple[str, str, Markup]]:
    """Name of the language, of the file, and its contents, in each language that it suits."""
    found = []
    for language, starter in STARTERS.items():
        path = f"solutions/{problem.slug}/me/{starter.file}"
        try:
            text = starter_text(problem, language, f"harness check {shlex.quote(path)}")
        except UsageError:
            continue
        shown = highlighted(text, language).markup
        found.append((_LANGUAGES[language], starter.file, shown))
    return found
