"""Running a package's reference.py, and blaming it."""

import math
from pathlib import Path

import pytest
import torch
from support.problem_texts import MINIMAL, REFERENCE, Write

import harness.problem.reference
from harness.errors import ProblemError
from harness.problem.case import Case
from harness.problem.format.load import load_problem
from harness.problem.reference import Reference

CASE = Case(sizes={"n": 3}, scalars={"s": -0.5})
X = {"x": torch.tensor([1.0, -2.0, 0.25])}


def run(
    write: Write,
    reference: str = REFERENCE,
    text: str = MINIMAL,
    x: dict[str, torch.Tensor] = X,
) -> dict[str, torch.Tensor]:
    problem = load_problem(write(text, reference=reference))
    made = Reference(problem)
    made.magnitude(CASE, x)
    return made.expected(CASE, x)


def test_expected_is_computed_in_float64(write: Write) -> None:
    expected = run(write)
    assert expected["y"].dtype == torch.float64
    assert expected["y"].tolist() == [-0.5, 1.0, -0.125]
    assert not expected["y"].is_inference()


def test_inputs_survive_a_reference_that_writes(write: Write) -> None:
    double = {"x": X["x"].double()}
    problem = load_problem(write(reference=REFERENCE.replace("return x * s", "return x.mul_(s)")))
    Reference(problem).expected(CASE, double)
    assert torch.equal(double["x"], X["x"].double())


@pytest.mark.parametrize(
    ("body", "copies"),
    [
        ("x * s", 1),
        ("x.mul_(s)", 2),
        ("x.view(-1).mul_(s)", 2),
        ("x", 2),  # and the magnitude may overwrite it
        ("x[:]", 2),
    ],
)
def test_inputs_are_widened_again_only_where_they_were_altered(
    write: Write, monkeypatch: pytest.MonkeyPatch, body: str, copies: int
) -> None:
    text = f"def reference(x, s, n):\n    return {body}\ndef magnitude(x, s, n): return x.abs_()\n"
    problem = load_problem(write(reference=text))
    reference = Reference(problem)
    expected, magnitude = (f(CASE, X) for f in (reference.expected, reference.magnitude))
    made: list[torch.Tensor] = []
    upcast = harness.problem.reference.upcast
    monkeypatch.setattr(
        harness.problem.reference, "upcast", lambda x: (made.append(x), upcast(x))[1]
    )
    both = reference.expected_and_magnitude(CASE, X)
    assert torch.equal(both[0]["y"], expected["y"])
    assert torch.equal(both[1]["y"], magnitude["y"])
    assert len(made) == copies


COMPLEX = MINIMAL.replace("[float32, float16]", "[complex64]")
Z = {"x": torch.tensor([1.0 + 2.0j, -2.0j, 0.25], dtype=torch.complex64)}


def test_complex_numbers(write: Write) -> None:
    problem = load_problem(write(COMPLEX))
    reference = Reference(problem)
    expected = reference.expected(CASE, Z)["y"]
    assert expected.dtype == torch.complex128
    assert expected.tolist() == [-0.5 - 1.0j, 1.0j, -0.125]
    assert reference.magnitude(CASE, Z)["y"].dtype == torch.float64


def test_a_magnitude_is_real(write: Write) -> None:
    problem = load_problem(write(COMPLEX, reference=REFERENCE.replace("(x * s).abs()", "x * s")))
    with pytest.raises(ProblemError, match="magnitude: y is complex: a magnitude is real"):
        Reference(problem).magnitude(CASE, Z)


def test_tensors_with_gaps_come_without_them(write: Write) -> None:
    body = (
        "def reference(x, s, n):\n    assert x.is_contiguous()\n    return x.view(-1) * s\n"
        "magnitude = reference\n"
    )
    memory = torch.arange(9.0)
    expected = run(write, body, x={"x": memory[::3]})
    assert expected["y"].tolist() == [0.0, -1.5, -3.0]
    problem = load_problem(write(COMPLEX, reference=body))
    x = {"x": memory.to(torch.complex64)[::3]}
    assert Reference(problem).expected(CASE, x)["y"].tolist() == [0, -1.5, -3.0]


def test_the_line_of_a_fault_where_the_folder_is_relative(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(reference=REFERENCE.replace("return x * s", "return x * t"))
    monkeypatch.chdir(folder.parent)
    problem = load_problem(Path(folder.name))
    with pytest.raises(ProblemError) as caught:
        Reference(problem).expected(CASE, X)
    (diagnostic,) = caught.value.diagnostics
    lines = (folder / "reference.py").read_text().splitlines()
    assert "x * t" in lines[diagnostic.line - 1]


def test_nan_and_infinity_go_through(write: Write) -> None:
    x = torch.tensor([math.nan, math.inf, 2.0])
    expected = run(write, x={"x": x})["y"]
    assert expected[0].isnan()
    assert expected[1:].tolist() == [-math.inf, -1.0]


@pytest.mark.parametrize(
    ("dtype", "given", "kind"),
    [
        ("complex64", torch.float64, torch.complex128),
        ("float32", torch.int64, torch.float64),
        ("float32", torch.bool, torch.float64),
        ("int32", torch.float64, torch.int64),
        ("int32", torch.bool, torch.bool),
        ("bool", torch.int64, torch.int64),
    ],
)
def test_what_is_expected_gets_the_kind_of_the_output(
    write: Write, dtype: str, given: torch.dtype, kind: torch.dtype
) -> None:
    problem = load_problem(write())
    made = Reference(problem).fitting(problem.outputs[0], dtype, torch.ones(3).to(given))
    assert made.dtype == kind
    assert made.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("dtype", "expected", "complaint"),
    [
        (
            "float32",
            torch.ones(3, dtype=torch.complex128),
            "in complex128, and the output is float",
        ),
        (
            "int32",
            torch.ones(3, dtype=torch.complex128),
            "in complex128, and the output is integer",
        ),
        ("int32", torch.tensor([1.5]).double(), "in fractions, and the output is integer"),
        ("int32", torch.tensor([math.nan]).double(), "in fractions, and the output is integer"),
    ],
)
def test_what_no_output_can_hold(
    write: Write, dtype: str, expected: torch.Tensor, complaint: str
) -> None:
    problem = load_problem(write())
    with pytest.raises(ProblemError, match=f"reference: y was computed {complaint}"):
        Reference(problem).fitting(problem.outputs[0], dtype, expected)


def test_shipped_reference(gemm) -> None:
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    b = torch.tensor([[1.0, 0.0], [1.0, -1.0]])
    c = torch.tensor([[1.0, 2.0], [-1.0, 0.5]])
    case = Case(sizes={"m": 2, "n": 2, "k": 2}, scalars={"alpha": -2.0})
    tensors = {"matrix_a": a, "matrix_b": b, "matrix_c": c}
    reference = Reference(gemm)
    assert reference.expected(case, tensors)["output_matrix"].tolist() == [[3, 8], [14, 4]]
    magnitude = reference.magnitude(case, tensors)["output_matrix"]
    assert magnitude.tolist() == [[6, 8], [14, 4]]


def test_inout_is_an_argument_and_several_outputs_come_by_name(write: Write) -> None:
    text = MINIMAL.replace("const: false", "direction: inout").replace(
        "    const: true\n", "    direction: inout\n"
    )
    body = (
        "def reference(x, s, y, n):\n    return {'x': x + 1, 'y': y * s}\nmagnitude = reference\n"
    )
    problem = load_problem(write(text, reference=body))
    tensors = {**X, "y": torch.ones(3)}
    expected = Reference(problem).expected(CASE, tensors)
    assert expected["x"].tolist() == [2.0, -1.0, 1.25]
    assert expected["y"].tolist() == [-0.5, -0.5, -0.5]


def test_integers_are_exact(write: Write) -> None:
    text = MINIMAL.replace("dtypes: [float32, float16]", "dtypes: [int32]")
    problem = load_problem(write(text, reference=REFERENCE.replace("x * s", "x * 3")))
    x = {"x": torch.tensor([2**31 - 1, -(2**31), 7], dtype=torch.int32)}
    expected = Reference(problem).expected(CASE, x)["y"]
    assert expected.tolist() == [3 * (2**31 - 1), -3 * 2**31, 21]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("def reference", "def refrence", r"reference\.py:1: reference: .*did you mean refrence\?"),
        ("def magnitude", "def gauge", r"reference\.py:1: magnitude: the file defines no such"),
        ("def reference(x, s, n)", "def reference(x, n)", r":2: reference: cannot be called with"),
        ("def reference", "import nothing_here\ndef reference", r":2: ModuleNotFoundError"),
        ("def reference(", "def reference((", r"reference\.py:2: SyntaxError"),
        ("return x * s", "return 1 / 0", r":3: reference: ZeroDivisionError: division by zero"),
        ("return x * s", "return None", r":1: reference: must return a tensor for each of y"),
        ("return x * s", "return {'z': x}", r"must return a tensor for each of y"),
        ("return x * s", "return {'y': 1.0}", r"y: a float is no tensor"),
        ("return x * s", "return x[:2]", r"y has shape \(2,\), not \(3,\), for n=3,s=-0.5"),
        ("return x * s", "return (x * s).float()", r"y was computed in float32, not float64"),
    ],
)
def test_the_author_is_told_what_is_wrong(write: Write, old: str, new: str, complaint: str) -> None:
    with pytest.raises(ProblemError, match=complaint):
        run(write, REFERENCE.replace(old, new))


def test_no_file(write: Write) -> None:
    folder = write()
    (folder / "reference.py").unlink()
    problem = load_problem(folder)
    with pytest.raises(ProblemError, match=r"reference\.py:1: there is no such file"):
        Reference(problem)
