"""Running a package's reference.py, and blaming it."""

import pytest
import torch
from packages import MINIMAL, REFERENCE, Write

from harness.errors import ProblemError
from harness.problem.draws import Case
from harness.problem.load import load_problem
from harness.problem.reference import Reference

CASE = Case(sizes={"n": 3}, scalars={"s": -0.5})
X = {"x": torch.tensor([1.0, -2.0, 0.25])}


def run(write: Write, reference: str = REFERENCE, text: str = MINIMAL) -> dict[str, torch.Tensor]:
    problem = load_problem(write(text, reference=reference))
    made = Reference(problem)
    made.magnitude(problem, CASE, X)
    return made.expected(problem, CASE, X)


def test_expected_is_computed_in_float64(write: Write) -> None:
    expected = run(write)
    assert expected["y"].dtype == torch.float64
    assert expected["y"].tolist() == [-0.5, 1.0, -0.125]
    assert not expected["y"].is_inference()


def test_inputs_survive_a_reference_that_writes(write: Write) -> None:
    double = {"x": X["x"].double()}
    problem = load_problem(write(reference=REFERENCE.replace("return x * s", "return x.mul_(s)")))
    Reference(problem).expected(problem, CASE, double)
    assert torch.equal(double["x"], X["x"].double())


def test_shipped_reference(gemm) -> None:
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    b = torch.tensor([[1.0, 0.0], [1.0, -1.0]])
    c = torch.tensor([[1.0, 2.0], [-1.0, 0.5]])
    case = Case(sizes={"m": 2, "n": 2, "k": 2}, scalars={"alpha": -2.0})
    tensors = {"matrix_a": a, "matrix_b": b, "matrix_c": c}
    reference = Reference(gemm)
    assert reference.expected(gemm, case, tensors)["output_matrix"].tolist() == [[3, 8], [14, 4]]
    magnitude = reference.magnitude(gemm, case, tensors)["output_matrix"]
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
    expected = Reference(problem).expected(problem, CASE, tensors)
    assert expected["x"].tolist() == [2.0, -1.0, 1.25]
    assert expected["y"].tolist() == [-0.5, -0.5, -0.5]


def test_integers_are_exact(write: Write) -> None:
    text = MINIMAL.replace("dtypes: [float32, float16]", "dtypes: [int32]")
    problem = load_problem(write(text, reference=REFERENCE.replace("x * s", "x * 3")))
    x = {"x": torch.tensor([2**31 - 1, -(2**31), 7], dtype=torch.int32)}
    expected = Reference(problem).expected(problem, CASE, x)["y"]
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
