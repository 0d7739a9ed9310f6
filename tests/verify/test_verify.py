"""``harness verify``: sound packages pass, the faults of others are reported."""

import itertools
import json
import pickle
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from support.verify_packages import MATTER, REFERENCE, Package
from torch import OutOfMemoryError

from harness.cli import cli
from harness.device.choose import open_device
from harness.device.cpu import CpuDevice
from harness.errors import UsageError
from harness.judge.batch import Batch
from harness.problem.format.load import load_problem, problem_folders
from harness.progress.progress import NoProgress
from harness.verify.findings import Level, PackageReport, Status
from harness.verify.grades import run_grade
from harness.verify.package_lints import check_strength
from harness.verify.render import closing_line
from harness.verify.soundness import mentions
from harness.verify.verify import VerifyChoices, VerifyStopped, seeds, verify

ROOT = Path(__file__).parents[2]
SLUGS = [folder.name for folder in problem_folders(ROOT / "problems")]


def look(folder: Path, **choices: Any) -> PackageReport:
    chosen = VerifyChoices(**{"seed": "7", "grades": 1, "examples": False} | choices)
    return verify(folder, chosen, CpuDevice(), NoProgress())


def messages(report: PackageReport, level: Level) -> list[str]:
    return [f"{Path(f.place).name}: {f.message}" for f in report.findings if f.level is level]


@pytest.mark.corpus
@pytest.mark.parametrize("seed", ["7", "8"])
@pytest.mark.parametrize("slug", SLUGS)
def test_packages_of_this_repository_pass(slug: str, seed: str) -> None:
    """In all data types; their files are graded in tests/test_examples.py."""
    report = look(ROOT / "problems" / slug, seed=seed)
    assert messages(report, Level.ERROR) == []
    for dtype in report.dtypes:
        impostors = [t for t in report.impostors if t.dtype == dtype]
        rejected = [t for t in impostors if t.status is Status.REJECTED]
        assert len(rejected) >= 14
        assert all(t.why for t in impostors if t.status is Status.NOT_APPLICABLE)
        honest = [t for t in report.variants if t.dtype == dtype]
        assert sum(t.status is Status.ACCEPTED for t in honest) >= 2
        assert all(t.refused == 0 for t in honest)


def test_cases_take_turns_with_those_who_take_times(
    package: Package, monkeypatch: pytest.MonkeyPatch
) -> None:
    device, held, filled = CpuDevice(), [], []

    @contextmanager
    def shared(waiting: object) -> Iterator[None]:
        held.append(waiting)
        yield
        held.pop()

    def fill(batch: Batch, seed: str) -> None:
        filled.append(len(held))
        as_before(batch, seed)

    as_before = Batch.fill
    monkeypatch.setattr(device, "shared", shared)
    monkeypatch.setattr(Batch, "fill", fill)
    choices = VerifyChoices(seed="7", grades=1, examples=False)
    verify(package(dtypes="float32"), choices, device, NoProgress())
    assert len(filled) > 10
    assert set(filled) == {1}
    assert held == []


@pytest.fixture
def without_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine has no room left for the third grade of a run."""
    count = itertools.count(1)

    def grade(*given: Any) -> Any:
        if next(count) == 3:
            raise OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return run_grade(*given)

    monkeypatch.setattr("harness.verify.verify.run_grade", grade)


def test_grades_before_the_machine_has_no_room_count(without_room: None, package: Package) -> None:
    said = r"grade 3 of 5 in float32 did not end: the GPU has no memory left"
    with pytest.raises(VerifyStopped, match=said) as stopped:
        look(package(dtypes="float32, float16"), grades=5, impostors=False)
    report = stopped.value.report
    assert {each.dtype for each in report.variants} == {"float32"}
    assert any(each.cases > 0 for each in report.variants)
    again = pickle.loads(pickle.dumps(stopped.value))
    assert (str(again), again.report) == (str(stopped.value), report)


def test_the_command_says_what_was_seen_before(without_room: None, package: Package) -> None:
    alone = ("--no-examples", "--no-impostors", "--device", "cpu", "--grades", "5")
    done = CliRunner().invoke(cli, ["verify", str(package()), *alone])
    assert isinstance(done.exception, VerifyStopped)
    assert "honest variants accepted" in done.output


@pytest.mark.gpu
@pytest.mark.parametrize("slug", SLUGS)
def test_packages_of_this_repository_pass_on_a_gpu(slug: str) -> None:
    """With all examples, baselines and solutions, in all data types."""
    chosen = VerifyChoices(seed="7", grades=1)
    report = verify(ROOT / "problems" / slug, chosen, open_device("cuda"), NoProgress())
    assert messages(report, Level.ERROR) == []


def test_a_sound_package_has_no_errors(package: Package) -> None:
    report = look(package(dtypes="float32, float16, bfloat16, float64"))
    assert messages(report, Level.ERROR) == []
    assert [m.split(": ")[1] for m in messages(report, Level.WARNING)] == [
        "0 examples of wrong answers, fewer than 3",
        "no submission beside the baseline is accepted",
    ]
    line = closing_line(report)
    assert line.startswith("row-sum: 0 errors, 2 warnings · ")
    assert "impostors rejected" in line
    assert line.endswith(" s")


@pytest.mark.corpus
def test_two_packages_of_one_slug_are_an_error(package: Package) -> None:
    folder = package()
    assert not any("slug" in m for m in messages(look(folder), Level.ERROR))
    shutil.copytree(folder, folder.parent / "another")
    shutil.copytree(folder, folder.parent / "third")
    third = folder.parent / "third/problem.md"
    third.write_text(third.read_text().replace("slug: row-sum", "slug: row-sum-too"))
    (found,) = [f for f in look(folder).findings if "slug" in f.message]
    assert found.level is Level.ERROR
    assert found.place.endswith("problem.md:2")
    assert found.message == "the slug row-sum is also that of another"


@pytest.mark.corpus
def test_a_weak_package_accepts_impostors(package: Package) -> None:
    folder = package(
        values="{distribution: uniform, low: 1, high: 1.01}",
        constant=1e9,
        rows=1,
        statement="Sums.",
    )
    report = look(folder)
    errors, warnings = messages(report, Level.ERROR), messages(report, Level.WARNING)
    accepted = {t.name for t in report.impostors if t.status is Status.ACCEPTED}
    assert {"writes zeros", "takes x for zeros", "inputs in tf32", "sums in bfloat16"} <= accepted
    assert {"skips the last term of every sum", "results in bfloat16"} <= accepted
    assert any("impostor “writes zeros” is accepted in all" in m for m in errors)
    assert any("too small to time" in m for m in warnings)
    assert any("does not mention the parameter x" in m for m in warnings)
    assert report.variants
    assert all(t.status is not Status.REJECTED for t in report.variants)


def test_a_narrow_tolerance_rejects_honest_variants(package: Package) -> None:
    report = look(package(constant=1e-3))
    rejected = {t.name for t in report.variants if t.status is Status.REJECTED}
    assert "sequential sums" in rejected
    assert "float64 inside" not in rejected
    rejections = [
        m for m in messages(report, Level.ERROR) if "honest variant “sequential sums”" in m
    ]
    assert len(rejections) == 1
    assert "case m=" in rejections[0]
    assert "seed 7" in rejections[0]


WRONG_REFERENCES = {
    "not deterministic": "import torch\n" + REFERENCE.replace(
        "x.sum(1) * s", "x.sum(1) * s + torch.rand((), dtype=torch.float64) * 1e-9", 1
    ),
    "not deterministic: y differs": "calls = []\n" + REFERENCE.replace(
        "return x.sum(1) * s", "calls.append(0)\n    return x.sum(1) * s + len(calls) * 1e-9", 1
    ),
    "the magnitude of y is negative": REFERENCE.replace("x.abs()", "-x.abs()"),
    "the magnitude of y is less than y itself": REFERENCE.replace("x.abs()", "1e-9 * x.abs()"),
    "y is not finite though all inputs are": REFERENCE.replace(
        "x.sum(1) * s", "(x * float('inf')).sum(1)"
    ),
    "the magnitude of y is not finite": REFERENCE.replace("* abs(s)", "* abs(s) / 0.0"),
    "computed in float32": REFERENCE.replace("x.sum(1) * s", "(x.sum(1) * s).float()"),
    "ZeroDivisionError": REFERENCE.replace("x.sum(1) * s", "x.sum(1) * (1 / s)"),
    "SyntaxError": "def reference(",
}  # fmt: skip


@pytest.mark.corpus
@pytest.mark.parametrize("message", WRONG_REFERENCES)
def test_a_wrong_reference_is_an_error(package: Package, message: str) -> None:
    report = look(package(WRONG_REFERENCES[message]))
    errors = messages(report, Level.ERROR)
    assert any(message in m and m.startswith("reference.py") for m in errors), errors


def test_a_sum_that_cannot_be_varied_is_a_warning(package: Package) -> None:
    reference = REFERENCE.replace("x.sum(1) * s", "x.exp().prod(1).log() * s")
    report = look(package(reference))
    assert any("how aten.prod.dim_int sums cannot be varied" in f.message for f in report.findings)


def test_faults_of_the_front_matter_are_errors(package: Package) -> None:
    broken = look(package(slug="broken", matter=MATTER.replace("cases: 4", "cases: many")))
    assert [m.split(":")[0] for m in messages(broken, Level.ERROR)] == ["problem.md"]
    assert "cases" in broken.findings[0].message
    gaps = look(package(slug="gaps", matter=MATTER.replace("flops: m*n\n", "")))
    assert messages(gaps, Level.ERROR) == ["problem.md:1: cannot be graded: no flops"]
    silent = look(package(slug="silent", statement=""))
    assert "problem.md:1: there is no statement" in messages(silent, Level.ERROR)


def test_scalars_without_special_values_are_a_warning(package: Package) -> None:
    report = look(package(matter=MATTER.replace("[0, 1, -1]", "[0.5]")))
    lacking = [m for m in messages(report, Level.WARNING) if "`always` of s" in m]
    assert lacking == ["problem.md:9: `always` of s lacks 0, 1, a negative number"]


@pytest.mark.parametrize(
    ("values", "lacking"),
    [
        ("{distribution: uniform, low: -4, high: -1}", ""),
        ("{distribution: uniform, low: -4, high: 0}", "0"),
        ("{distribution: uniform, low: 0.25, high: 0.75}", ""),
        ("{distribution: uniform, low: 0.5, high: 2}", "1"),
        ("{distribution: uniform, low: 0, high: 0.5}", "0"),
        ("{distribution: normal, mean: -100, std: 1}", ""),
        ("{distribution: normal, mean: 5, std: 1}", "0, 1, a negative number"),
        ("{distribution: normal, mean: 9, std: 1}", ""),
    ],
)
def test_scalars_need_no_special_values_that_are_not_drawn(
    package: Package, values: str, lacking: str
) -> None:
    matter = MATTER.replace(
        "{{distribution: uniform, low: -2, high: 2}}", values.replace("{", "{{").replace("}", "}}")
    )
    report = PackageReport(slug="row-sum", device=CpuDevice().kind, seed="7", grades=1)
    folder = package(matter=matter.replace("always: [0, 1, -1]", "always: [7]"))
    check_strength(load_problem(folder), folder / "none", report)
    found = [m.split("lacks ")[1] for m in messages(report, Level.WARNING) if "`always`" in m]
    assert found == ([lacking] if lacking else [])


def test_an_impostor_that_few_cases_reject_is_a_warning(package: Package) -> None:
    # Scalars next to 1: a wrong answer shows only for the values that are always tried.
    matter = MATTER.replace("low: -2, high: 2", "low: 0.9999, high: 1.0001")
    report = look(package(matter=matter, constant=5000))
    tried = {t.name: t for t in report.impostors}["takes s for 1"]
    assert tried.status is Status.REJECTED
    assert 0 < tried.refused < tried.applicable / 2
    warning = f"takes s for 1” is rejected in {tried.refused} of the {tried.applicable} cases"
    assert any(warning in m for m in messages(report, Level.WARNING))


@pytest.mark.corpus
def test_the_same_seed_gives_the_same_results(package: Package) -> None:
    folder = package()
    one, other, third = look(folder), look(folder), look(folder, seed="8")
    assert one.impostors == other.impostors
    assert one.impostors != third.impostors
    assert seeds("7", 3) == ["7", "7-2", "7-3"]


@pytest.mark.corpus
def test_command_prints_reports_and_sets_the_exit_code(
    package: Package, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = package()
    package(slug="weak", constant=1e9)
    monkeypatch.chdir(folder.parent.parent)
    options = ("--device", "cpu", "--grades", "1", "--no-examples", "--seed", "7")

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(cli, ["verify", *arguments, *options])

    both = run()
    lines = both.stdout.splitlines()
    assert both.exit_code == 1
    assert lines[-1].startswith("2 problems: ")
    assert any(line.startswith("row-sum: 0 errors, 2 warnings · ") for line in lines)
    assert any(line.startswith("ERROR problems/weak/problem.md: ") for line in lines)
    printed = run(str(folder), "--json")
    assert printed.exit_code == 0
    [record] = json.loads(printed.stdout)
    assert (record["slug"], record["errors"], record["seed"]) == ("row-sum", 0, "7")
    fates = {t["status"] for t in record["impostors"]}
    assert "rejected" in fates
    assert "accepted" not in fates
    with pytest.raises(UsageError, match="no problem 'nonesuch'"):
        raise run("nonesuch").exception or AssertionError
    with pytest.raises(UsageError, match="none of these problems has it"):
        raise run("row-sum", "--dtype", "float64").exception or AssertionError


@pytest.mark.corpus
def test_examples_with_another_verdict_are_errors(package: Package) -> None:
    folder = package()
    wrong = folder / "examples" / "wrong_answer"
    wrong.mkdir(parents=True)
    nothing = "def solution(x, s, y, m, n): ...\n"
    (wrong / "idle.py").write_text("# verdict: wrong_answer\n" + nothing)
    (wrong / "raises.py").write_text("# verdict: wrong_answer\ndef solution(*_): raise OSError\n")
    report = look(folder, examples=True)
    got = {Path(e.path).name: e.got for e in report.examples}
    assert got["idle.py"] == "wrong_answer"
    assert got["raises.py"] == "runtime_error"
    errors = messages(report, Level.ERROR)
    assert any(
        m.startswith("raises.py: gets runtime_error instead of wrong_answer") for m in errors
    )
    assert not any(m.startswith("idle.py") for m in errors)


@pytest.mark.parametrize(
    ("statement", "name", "found"),
    [
        ("Adds x to y.", "x", True),
        ("Sums $x_i$.", "x", True),
        (r"$$\nz_i = x_i^2\n$$", "x", True),
        (r"$\mathbf{x}$", "x", True),
        (r"$\text{matrix\_a}$", "matrix_a", True),
        (r"$\max y$", "x", False),
        (r"$\alpha$", "alpha", True),
        ("x_1 is no maths", "x", False),
        ("costs $5", "x", False),
    ],
)
def test_a_parameter_may_be_explained_in_a_formula(statement: str, name: str, found: bool) -> None:
    assert mentions(statement, name) is found
