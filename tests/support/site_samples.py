"""Sites to test with, and a reader of their pages."""

from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path

from harness.languages.read import code_of
from harness.problem.format.load import load_problem
from harness.problem.package import Problem
from harness.records.measurement import Measurement
from harness.records.refs import DeviceRef
from harness.records.result import Result
from harness.site.build import build_site
from leaderboard.ranking import board, rows, to_csv
from support.samples import interval, measurement, result, score, unranked

ROOT = Path(__file__).parents[2]
SLUG = "gemm-multiply-leakyrelu"
PROBLEM = load_problem(ROOT / "problems" / SLUG)
CPU = DeviceRef(kind="cpu", name="AMD EPYC 9654")


def shapes(speedup: float) -> tuple[Measurement, ...]:
    """A shape that memory decides and one that arithmetic does."""
    return (
        measurement(speedup=speedup, spec="m=64,n=64,k=64", flops=1e9, bytes=1e9, sol_time_s=8e-6),
        measurement(speedup=speedup, spec="m=4096,n=4096,k=4096", sol_time_s=9e-6, flops=1e11),
    )


def some_results() -> list[Result]:
    """Two boards: one of a GPU with ties and an entry without a rank, one of a CPU."""
    real = ROOT / "solutions" / SLUG / "samples" / "naive.cu"
    of_gpu = [
        result(
            author=author,
            name=f"kernel-{author}",
            id=author,
            problem=SLUG,
            problem_hash=PROBLEM.hash,
            solution_hash=author * 8,
            speedup=speedup,
            measurements=shapes(speedup),
        )
        for author, speedup in (("ann", 2.5), ("bea", 1.5), ("cyd", 1.501), ("dot", 10.25))
    ]
    noisy = unranked("too noisy", author="eve", problem=SLUG, problem_hash=PROBLEM.hash)
    from hashlib import sha256

    on_cpu = result(
        author="samples",
        problem=SLUG,
        problem_hash=PROBLEM.hash,
        device=CPU,
        score=score(ranked=False, unranked_reason="cpu"),
    )
    solution = on_cpu.solution.model_copy(
        update={"path": str(real), "hash": sha256(real.read_bytes()).hexdigest()}
    )
    return [*of_gpu, noisy, on_cpu.model_copy(update={"solution": solution})]


def built(
    out: Path, results: list[Result], problems: Iterable[Problem] = (PROBLEM,), *, code: bool = True
) -> Path:
    """The folder ``out`` with the site of ``results``."""
    packages = list(problems)
    frame = board(results, current={each.slug: each.hash for each in packages})
    by_id = {each.id: each for each in results}
    build_site(
        out,
        rows=rows(frame),
        problems=packages,
        named=lambda ids: [by_id[each] for each in ids if each in by_id],
        write_csv=lambda file: to_csv(frame, file),
        code=lambda result: code_of(result, None) if code else None,
    )
    return out


class Page(HTMLParser):
    """What a browser would make of a page: elements with attributes, and the text between them."""

    def __init__(self, path: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.path = path
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.source = path.read_text(encoding="utf-8")
        self.feed(self.source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        """All text, in one line."""
        return " ".join(" ".join(self.words).split())

    def all(self, tag: str) -> list[dict[str, str]]:
        """Attributes of the elements with this tag."""
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def ids(self) -> list[str]:
        """Every id of the page."""
        return [attributes["id"] for _, attributes in self.elements if "id" in attributes]

    @property
    def structure(self) -> list[tuple[str, tuple[str, ...]]]:
        """Elements and the names of their attributes, in order."""
        return [(tag, tuple(attributes)) for tag, attributes in self.elements]


def pages(site: Path) -> list[Page]:
    """Every page of a site."""
    return [Page(path) for path in sorted(site.rglob("*.html"))]


__all__ = ["PROBLEM", "Page", "built", "interval", "pages", "shapes", "some_results"]
