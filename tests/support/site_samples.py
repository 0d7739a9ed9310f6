"""Sites to test with, and a reader of their pages."""

from collections.abc import Iterable, Mapping
from html.parser import HTMLParser
from pathlib import Path

from harness.languages.build.machine_code import Instruction, Kernel, MachineCode
from harness.languages.read import code_of
from harness.problem.format.load import load_problem
from harness.problem.package import Problem
from harness.records.measurement import Measurement
from harness.records.refs import DeviceRef, Generation
from harness.records.result import Result
from harness.site.build import build_site
from leaderboard.entry import entry
from leaderboard.models import by_model
from leaderboard.ranking import entries_frame, placed, rows, standing, to_csv
from leaderboard.timeline import Timeline
from support.samples import failed, interval, measurement, result, score, unranked

ROOT = Path(__file__).parents[2]
SLUG = "gemm-multiply-leakyrelu"
PROBLEM = load_problem(ROOT / "problems" / SLUG)
CPU = DeviceRef(kind="cpu", name="AMD EPYC 9654")
A100 = DeviceRef(kind="cuda", name="NVIDIA A100-SXM4-80GB")


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


CODE = """// Adds <two> & more.
#include <cuda.h>
__global__ void add(const float* x, float* y) { y[threadIdx.x] += 2.0f * x[threadIdx.x]; }
"""


SASS = MachineCode(
    compiler="nvcc 13.0.88",
    kernels=(
        Kernel(
            name="add",
            instructions=(
                Instruction(address="0000", text="LDC R1, c[0x0][0x28]", line=3),
                Instruction(address="", text=".L_x_0", line=0),
                Instruction(address="0010", text="STG.E desc[UR4][R2.64], R5", line=3),
                Instruction(address="0020", text="BRA `(.L_x_0)", line=0),
            ),
        ),
    ),
    whole=True,
)


def lively_results() -> list[Result]:
    """A store that was used for some days: histories, devices, languages, models, a failure."""
    about = {"problem": SLUG, "problem_hash": PROBLEM.hash}
    days = [
        result(
            author="ann",
            name="tiled",
            id=f"ann-{day}",
            solution_hash=f"ann-{day}",
            minutes=day * 1440,
            speedup=speedup,
            measurements=shapes(speedup),
            **about,
        )
        for day, speedup in enumerate((0.8, 1.9, 1.4, 2.75))
    ]
    others = [
        result(
            author="bea",
            name="blocks",
            id="bea",
            language="triton",
            minutes=2000,
            speedup=2.2,
            measurements=(measurement(9e-6, speedup=2.2, spec="m=64,n=64,k=64"),),
            **about,
        ),
        result(author="ann", id="half", name="half", dtype="float16", **about),
        result(author="cyd", id="a100", name="old", device=A100, minutes=99, **about),
        failed(author="ann", id="no", **about),
    ]
    generated = [
        of_model(make(author=model, id=f"{model}-{n}", name=f"s{n}", **about), model)
        for model, makes in (("coder-8b", (result, failed)), ("coder-70b", (result, result)))
        for n, make in enumerate(makes)
    ]
    return [*days, *others, *generated]


def of_model(one: Result, model: str) -> Result:
    """``one`` as a sample of ``model``."""
    generation = Generation(model=model, found="fence")
    solution = one.solution.model_copy(update={"generation": generation})
    return one.model_copy(update={"solution": solution})


def built(
    out: Path,
    results: list[Result],
    problems: Iterable[Problem] = (PROBLEM,),
    *,
    code: bool = True,
    everything: bool = False,
    sources: Mapping[str, str] | None = None,
    machine_code: Mapping[str, MachineCode] | None = None,
) -> Path:
    """The folder ``out`` with the site of ``results``; ``sources`` are codes by the files' hashes.

    ``machine_code`` is what files were compiled to, by the same hashes. With ``everything`` boards
    have all entries.
    """
    packages = list(problems)
    current = {each.slug: each.hash for each in packages}
    entries = entries_frame(tuple(entry(each).values()) for each in results)
    listed = standing(entries, current=current)
    frame = placed(listed, all_entries=everything)
    by_id = {each.id: each for each in results}
    build_site(
        out,
        rows=rows(frame),
        problems=packages,
        named=lambda ids: [by_id[each] for each in ids if each in by_id],
        write_csv=lambda file: to_csv(frame, file),
        code=lambda result: _code(result, sources or {}) if code else None,
        timeline=Timeline(entries, listed),
        models=by_model(entries, ks=(1, 2), ps=(0.0, 1.0), current=current),
        raw=code,
        machine_code=lambda result: (machine_code or {}).get(result.solution.hash),
    )
    return out


def _code(result: Result, sources: Mapping[str, str]) -> str | None:
    return sources.get(result.solution.hash) or code_of(result, None)


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


__all__ = [
    "CODE", "PROBLEM", "SASS", "Page", "built", "interval", "lively_results", "of_model", "pages",
    "shapes", "some_results",
]  # fmt: skip
