"""Problems whose author draws inputs or checks answers, from the command line to a verdict."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.drawn_packages import csr_that_draws

from harness.cli import cli
from harness.device import choose as device
from harness.device.cpu import CpuDevice
from harness.errors import ProblemError
from harness.progress.progress import NoProgress
from harness.records.result import Result, Verdict
from harness.verify.findings import Level
from harness.verify.verify import VerifyChoices, verify

pytestmark = pytest.mark.corpus

PACKAGES = Path(__file__).parent / "support/author_packages"

PRODUCT = """
__global__ void product(const int* row_ptr, const int* col, const float* val, const float* x,
                        float* y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int i = row_ptr[row]; i < row_ptr[row + 1]; ++i) sum += val[i] * x[col[i]];
    y[row] = sum;
}
extern "C" void solution(const int* row_ptr, const int* col, const float* val, const float* x,
                         float* y, int rows, int cols, int nnz) {
    product<<<(rows + 31) / 32, 32>>>(row_ptr, col, val, x, y, rows);
}
"""
FIRST_OF_EACH_ROW = PRODUCT.replace("x[col[i]];", "x[col[i]], i = 1 << 30;")

FROM_BEHIND = """
__global__ void pick(const float* x, float* largest, int* where, int n, int k) {
    for (int j = 0; j < k; ++j) {
        int best = -1;
        for (int i = n - 1; i >= 0; --i) {
            bool taken = false;
            for (int before = 0; before < j; ++before) taken |= where[before] == i;
            if (!taken && (best < 0 || x[i] > x[best])) best = i;
        }
        where[j] = best;
        largest[j] = x[best];
    }
}
extern "C" void solution(const float* x, float* largest, int* where, int n, int k) {
    pick<<<1, 1>>>(x, largest, where, n, k);
}
"""
LAST = "    if (k > 1) where[k - 1] = "
THE_SAME_TWICE = FROM_BEHIND.replace("    }\n}\n", f"    }}\n{LAST}where[k - 2];\n}}\n")
FAR_AWAY = FROM_BEHIND.replace("    }\n}\n", f"    }}\n{LAST}1 << 30;\n}}\n")

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Grades one text, in a folder of its own; the result."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_STORE", str(tmp_path / "results.sqlite"))
    monkeypatch.setenv("HARNESS_PROBLEMS", str(PACKAGES))
    monkeypatch.setattr(device, "gpu_present", lambda: False)

    def command(problem: str, text: str, *options: str, verb: str = "check") -> Result:
        Path("one.cu").write_text(text)
        words = [verb, "one.cu", "--problem", problem, "--json", "-", *options]
        done = CliRunner().invoke(cli, words, catch_exceptions=False)
        return Result.from_json(done.stdout.splitlines()[0])

    return command


def test_a_sparse_matrix(run: Run) -> None:
    good = run("csr", PRODUCT)
    assert good.verdict is Verdict.ACCEPTED, good.message
    families = {case.spec.partition("values=")[2] for case in good.cases}
    assert {"", "zeros", "rows", "cancellation"} <= families
    bad = run("csr", FIRST_OF_EACH_ROW)
    assert bad.verdict is Verdict.WRONG_ANSWER
    assert bad.shrunk is not None
    sizes = dict(part.split("=") for part in bad.shrunk.case.spec.split(",")[:3])
    assert int(sizes["nnz"]) == 2
    again = run("csr", FIRST_OF_EACH_ROW, "--case", bad.shrunk.case.spec, "--seed", bad.seed)
    assert again.verdict is Verdict.WRONG_ANSWER
    (case,) = again.cases
    assert case.mismatch == bad.shrunk.case.mismatch


def test_any_of_equals(run: Run) -> None:
    good = run("pick", FROM_BEHIND, "--dtype", "float32")
    assert good.verdict is Verdict.ACCEPTED, good.message
    for wrong in (THE_SAME_TWICE, FAR_AWAY):
        bad = run("pick", wrong, "--dtype", "float32")
        assert bad.verdict is Verdict.WRONG_ANSWER
        assert "elements of where are wrong" in bad.message


def test_times_are_taken(run: Run) -> None:
    timed = run("csr", PRODUCT, "--functional-times", verb="submit")
    assert timed.verdict is Verdict.ACCEPTED, timed.message
    assert timed.score is not None


@pytest.mark.parametrize("slug", ["csr", "pick"])
def test_packages_verify(slug: str) -> None:
    assert findings(PACKAGES / slug, impostors=True) == []


def test_some_draws_may_be_alike() -> None:
    """A case of this seed has a row with every column: nothing is left to draw."""
    chosen = VerifyChoices(seed="2", grades=1, examples=False, dtypes=("float32",), impostors=False)
    package = Path(__file__).parents[1] / "problems/sparse-matvec"
    assert verify(package, chosen, CpuDevice(), NoProgress()).findings == []


def findings(folder: Path, level: Level = Level.ERROR, *, impostors: bool = False) -> list[str]:
    chosen = VerifyChoices(
        seed="7", grades=1, examples=False, dtypes=("float32",), impostors=impostors
    )
    report = verify(folder, chosen, CpuDevice(), NoProgress())
    told = [f for f in report.findings if f.level is level]
    return [f"{Path(f.place).name}: {f.message}" for f in told]


@pytest.mark.parametrize(
    ("slug", "old", "new", "message"),
    [
        (
            "csr",
            "(rows - 1,), generator=generator)",
            "(rows - 1,))",
            "reference.py: draw is not deterministic: row_ptr differs when drawn twice",
        ),
        (
            "csr",
            '"""Rows of random lengths',
            'generator.manual_seed(0)\n    """Rows of random lengths',
            "reference.py: draw makes the same for two calls (case ",
        ),
        (
            "pick",
            "there = where.clamp(0, n - 1)",
            "there = where",
            "reference.py: check raises an exception for a wrong answer: IndexError: ",
        ),
        (
            "pick",
            'x[there] == expected["largest"]',
            'x[there] > expected["largest"]',
            "reference.py: check refuses the reference's own answer for where",
        ),
        (
            "pick",
            "inside & once &",
            "(where == where) |",
            "reference.py: check accepts -2147483648 everywhere in where",
        ),
    ],
)
def test_verify_sees_mistakes(tmp_path: Path, slug: str, old: str, new: str, message: str) -> None:
    folder = tmp_path / slug
    shutil.copytree(PACKAGES / slug, folder)
    file = folder / "reference.py"
    text = file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))
    found = findings(folder, Level.WARNING if "same" in message else Level.ERROR)
    assert any(message in each for each in found), found


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return {}", "must return a tensor for each of row_ptr, col; there are none"),
        ("return rows / 0", "ZeroDivisionError: division by zero"),
        ("import os; os._exit(1)", "ended its process with status 1"),
    ],
)
def test_an_author_s_mistake_is_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, message: str
) -> None:
    file = csr_that_draws(tmp_path / "problems/csr", f"def draw(rows): {body}")
    head, *_ = file.read_text().partition("def draw")
    monkeypatch.setenv("HARNESS_PROBLEMS", str(tmp_path / "problems"))
    monkeypatch.setattr(device, "gpu_present", lambda: False)
    (tmp_path / "one.cu").write_text(PRODUCT)
    words = ["check", str(tmp_path / "one.cu"), "--problem", "csr"]
    done = CliRunner().invoke(cli, words)
    assert isinstance(done.exception, ProblemError)
    line = 1 if "ended" in message else head.count("\n") + 1
    assert f"{file}:{line}: draw: {message} (case rows=" in str(done.exception)


def test_show_says_where_values_come_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_PROBLEMS", str(PACKAGES))
    done = CliRunner().invoke(cli, ["problems", "show", "csr", "--json"])
    shown: Any = json.loads(done.stdout)
    values = {p["name"]: p.get("values") for p in shown["parameters"]}
    assert values["col"] == "made by the problem itself, as its statement says"
