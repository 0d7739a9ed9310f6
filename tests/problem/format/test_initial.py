"""Outputs that are declared to be zero before every call: read, described, told to who writes."""

import json
from pathlib import Path

import pytest
from support.problem_texts import MINIMAL, Write

from harness.errors import ProblemError
from harness.problem.describe import direction_of
from harness.problem.format.load import load_problem
from harness.report.problem import problem_json
from harness.starter import starter_text

COUNTS = load_problem(Path(__file__).parents[2] / "support/packages/counts")
OUTPUT = "    const: false\n    shape: [n]\n"


def test_which_outputs_are(write: Write) -> None:
    zeroed = {p.name for p in COUNTS.parameters if p.zeroed}
    assert zeroed == {"counts", "weights"}
    tensors = COUNTS.tensors_of(COUNTS.parse_case("n=3,bins=2"), "float32")
    assert {t.name for t in tensors if t.zeroed} == zeroed
    assert not any(p.zeroed for p in load_problem(write()).parameters)


def test_they_are_described() -> None:
    words = {p.name: direction_of(p) for p in COUNTS.tensors}
    assert words["counts"] == "to be written; zero before each call"
    assert words["last"] == "to be written"
    data = {p["name"]: p.get("initial") for p in json.loads(problem_json(COUNTS))["parameters"]}
    assert data == {
        **dict.fromkeys(("x", "w", "last", "n", "bins")),
        "counts": "zero",
        "weights": "zero",
    }


@pytest.mark.parametrize("language", ["cuda", "triton", "python"])
def test_starters_say_so(language: str) -> None:
    text = starter_text(COUNTS, language, "harness check FILE")
    lines = [line for line in text.splitlines() if "zero before each call" in line]
    assert [line.split()[1] for line in lines] == ["counts", "weights"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            OUTPUT,
            OUTPUT + "    initial: one\n",
            "unknown value one (one of zero)",
        ),
        (
            "    const: true\n    shape: [n]\n",
            "    const: true\n    shape: [n]\n    initial: zero\n",
            "only an output that is not read can be zero first, and x is in",
        ),
        (
            OUTPUT,
            "    direction: inout\n    shape: [n]\n    initial: zero\n",
            "only an output that is not read can be zero first, and y is inout",
        ),
        (
            "    range: [1, 100]\n",
            "    range: [1, 100]\n    initial: zero\n",
            "unknown key for a size",
        ),
    ],
)
def test_mistakes(write: Write, old: str, new: str, message: str) -> None:
    assert old in MINIMAL
    with pytest.raises(ProblemError) as caught:
        load_problem(write(MINIMAL.replace(old, new)))
    assert [d.message for d in caught.value.diagnostics] == [message]
