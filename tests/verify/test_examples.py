"""Which files of a package must get which verdict."""

from pathlib import Path

import pytest
from support.samples import failed
from support.verify_packages import Package

from harness.frameworks import Framework
from harness.languages.build.framework_imports import ImportFault
from harness.problem.format.load import load_problem
from harness.records.result import Verdict
from harness.verify import examples
from harness.verify.examples import (
    Example,
    ExpectedVerdict,
    HeaderError,
    _judge,
    find_examples,
    limited,
    read_header,
)
from harness.verify.findings import PackageReport


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("// verdict: wrong_answer\n", ExpectedVerdict(Verdict.WRONG_ANSWER, Verdict.WRONG_ANSWER)),
        ("# one\n# verdict: accepted; on cpu: not_executable_here\nimport torch\n",
         ExpectedVerdict(Verdict.ACCEPTED, Verdict.NOT_EXECUTABLE_HERE)),
        ("# verdict: wrong_answer; on cpu: runtime_error (it is noticed)\n",
         ExpectedVerdict(Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR)),
        ("int verdict; // verdict: accepted\n", None),
        ("\n" * 30 + "// verdict: accepted\n", None),
        ("", None),
    ],
)  # fmt: skip
def test_read_header_gives_the_verdicts(text: str, wanted: ExpectedVerdict | None) -> None:
    assert read_header(text) == wanted


def test_read_header_rejects_an_unknown_verdict() -> None:
    with pytest.raises(HeaderError, match="rong_answer is no verdict"):
        read_header("// verdict: rong_answer\n")


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\ndef solution(x, s, y, m, n): ...\n")
    return path


def test_find_examples_lists_files_and_reports_wrong_headers(package: Package) -> None:
    folder = package(dtypes="float32, float16")
    examples, solutions = folder / "examples", folder.parents[1] / "solutions" / "row-sum"
    write(examples, "wrong_answer/zeros.py", "# verdict: wrong_answer")
    write(examples, "wrong_answer/silent.py", "# nothing")
    write(examples, "wrong_answer/misplaced.py", "# verdict: runtime_error")
    write(examples, "wrong_answer/misspelt.py", "# verdict: rong")
    write(solutions, "me/mine.py", "# dtypes: float16")
    write(solutions, "me/card.py", "# verdict: accepted; on cpu: not_executable_here")
    problem = load_problem(folder)
    report = PackageReport(slug="row-sum", device="cpu", dtypes=problem.dtypes)
    found = find_examples(problem, solutions, report)
    assert [(e.path.name, e.wanted[0], e.dtype) for e in found] == [
        ("misplaced.py", Verdict.RUNTIME_ERROR, None),
        ("zeros.py", Verdict.WRONG_ANSWER, None),
        ("baseline.py", Verdict.ACCEPTED, "float32"),
        ("baseline.py", Verdict.ACCEPTED, "float16"),
        ("card.py", Verdict.NOT_EXECUTABLE_HERE, "float32"),
        ("card.py", Verdict.NOT_EXECUTABLE_HERE, "float16"),
        ("mine.py", Verdict.ACCEPTED, "float16"),
    ]
    reported = {Path(f.place).name: f.message for f in report.findings}
    assert "lies in wrong_answer" in reported["misplaced.py"]
    assert "no line says" in reported["silent.py"]
    assert "rong is no verdict" in reported["misspelt.py"]
    assert set(reported) == {"misplaced.py", "silent.py", "misspelt.py"}
    assert len(report.findings) == len(reported)


def test_contestants_files_break_no_package(package: Package) -> None:
    folder = package()
    solutions = folder.parents[1] / "solutions" / "row-sum"
    write(solutions, "me/wrong.py", "# mine")
    write(solutions, "me/misspelt.py", "# verdict: rong")
    (solutions / "me/latin.py").write_bytes(b"# caf\xe9\n")
    problem = load_problem(folder)
    report = PackageReport(slug="row-sum", device="cpu", dtypes=("float32",))
    found = find_examples(problem, solutions, report)
    assert {e.path.name: e.contestants for e in found} == {
        "baseline.py": False, "wrong.py": True, "misspelt.py": True, "latin.py": True
    }  # fmt: skip
    assert (report.errors, report.warnings) == (0, 2)
    wrong = failed(Verdict.WRONG_ANSWER)
    _judge(next(e for e in found if e.path.name == "wrong.py"), wrong, report)
    assert (report.errors, report.warnings) == (0, 3)
    said = "gets wrong_answer instead of accepted or not_executable_here in float32"
    assert report.findings[-1].message.startswith(said)
    _judge(Example(folder / "baseline.py", (Verdict.ACCEPTED,)), wrong, report)
    assert (report.errors, report.warnings) == (1, 3)


@pytest.mark.parametrize(
    ("installed", "fault", "warnings"),
    [
        (None, None, ["not tried: TileLang is not installed"]),
        ("0.1.6", ImportFault("TileLang is broken", "mend it"), ["not tried: TileLang is broken"]),
        ("0.1.6", None, []),
    ],
)
def test_a_sample_of_a_framework_that_does_not_work_here_is_a_warning_on_a_gpu(
    installed: str | None,
    fault: ImportFault | None,
    warnings: list[str],
    package: Package,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = package()
    solutions = folder.parents[1] / "solutions" / "row-sum"
    write(solutions, "me/fast.py", "import tilelang")
    problem = load_problem(folder)
    monkeypatch.setattr(Framework, "version", lambda _: installed)
    monkeypatch.setattr(examples, "known_fault", lambda _: fault)
    report = PackageReport(slug="row-sum", device="cuda", dtypes=problem.dtypes)
    found = [example.path.name for example in find_examples(problem, solutions, report)]
    assert ("fast.py" in found) is (not warnings)
    assert [f.message for f in report.findings] == warnings
    assert report.errors == 0


def test_limited_lowers_only_the_limit_of_the_verdict(package: Package) -> None:
    problem = load_problem(package())
    assert limited(problem, Verdict.TIME_LIMIT).limits.call_s < problem.limits.call_s
    assert limited(problem, Verdict.MEMORY_LIMIT).limits.host_bytes < problem.limits.host_bytes
    assert limited(problem, Verdict.ACCEPTED).limits == problem.limits
