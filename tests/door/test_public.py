"""What `import harness` shows: this list is what other programs rely on."""

import inspect
import re
import subprocess
import sys
import typing
from pathlib import Path

import harness
from harness.records.effort import EFFORTS

ROOT = Path(__file__).parents[2]

PUBLIC = {
    "Graded", "HarnessError", "Judge", "JudgeError", "MachineError", "NoDeviceError",
    "ProblemError", "Result", "UsageError", "Verdict", "__version__", "agrade", "grade",
}  # fmt: skip

GRADE = "(source, problem=None, *, dtype=None, language=None, author=None"
SIGNATURES = {
    harness.grade: "(source, problem=None, *, device='auto', dtype=None, effort='full', "
    "language=None, author=None, seed=None)",
    harness.Judge: "(*, device='auto', card=None, cards=None, cluster=None, gpu=None, judges=None, "
    "effort='full', problems=None, functional_times=False, require_sandbox=False)",
    harness.Judge.grade: GRADE.replace("(", "(self, ") + ", seed=None)",
    harness.Judge.grade_many: GRADE.replace("(source", "(self, sources") + ")",
}


def test_the_public_names() -> None:
    assert set(harness.__all__) == PUBLIC
    assert set(dir(harness)) >= PUBLIC
    for name in PUBLIC:
        assert getattr(harness, name).__doc__ or name == "__version__"


def test_the_signatures() -> None:
    for what, expected in SIGNATURES.items():
        found = inspect.signature(what)
        plain = [p.replace(annotation=p.empty) for p in found.parameters.values()]
        assert str(inspect.Signature(plain)) == expected
    for one, twin in (
        (harness.grade, harness.agrade),
        (harness.Judge.grade, harness.Judge.agrade),
        (harness.Judge.grade_many, harness.Judge.agrade_many),
    ):
        assert inspect.signature(one).parameters == inspect.signature(twin).parameters
    assert typing.get_type_hints(harness.grade)["return"] is harness.Result
    assert EFFORTS == ("full", "quick", "verdict")


def test_the_page_names_each() -> None:
    page = (ROOT / "docs/how-to/rewards.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(?:harness\.)?(\w+)", page))
    assert PUBLIC - {"__version__"} <= named


def test_importing_it_costs_nothing() -> None:
    script = "import sys, harness; print(*sorted(m for m in sys.modules if 'harness' in m))"
    shown = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = [each for each in shown.stdout.split() if not re.match(r"__editable__", each)]
    assert names == ["harness"]


def test_a_judge_needs_neither_torch_nor_a_command() -> None:
    script = (
        "import sys, harness; harness.Judge(), harness.grade, harness.Result;"
        "print(*{m.partition('.')[0] for m in sys.modules} & {'torch', 'pandas', 'click', 'numpy'})"
    )
    shown = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert shown.stdout.split() == []


def test_the_command_line_as_a_module() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "harness", "--version"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout == f"harness, version {harness.__version__}\n"


def test_a_name_that_is_not_there() -> None:
    assert not hasattr(harness, "judgement")


def test_it_is_typed() -> None:
    assert (ROOT / "harness/py.typed").is_file()
