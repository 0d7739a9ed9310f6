"""`rtol` and `atol`: read, added to the error model or alone, shown, and known to `verify`."""

import json

import pytest
import torch
from rich.console import Console
from support.problem_texts import MINIMAL, Write

from harness.errors import ProblemError
from harness.problem.format.load import load_problem
from harness.problem.reference import Reference
from harness.problem.tolerance import weights_of
from harness.report.problem import problem_json, render_problem
from harness.verify.arithmetic.survey import ReferenceTraits
from harness.verify.impostors import impostors

BARE = "\ndef reference(x, s, n):\n    return x * s\n"
X = {"x": torch.tensor([1.0, -2.0, 0.0])}


def with_tolerance(text: str) -> str:
    return MINIMAL.replace("tolerance: {length: 1}", f"tolerance: {text}")


def test_alone_they_are_all_that_is_allowed_and_no_magnitude_is_needed(write: Write) -> None:
    problem = load_problem(write(with_tolerance("{rtol: 1e-3, atol: 1e-5}"), reference=BARE))
    case = problem.parse_case("n=3,s=-0.5")
    (made,) = Reference(problem).expectations(case, "float32", X).values()
    assert made.allowed.tolist() == pytest.approx([1e-5 + 5e-4, 1e-5 + 1e-3, 1e-5], rel=1e-12)
    assert not Reference(problem).has_magnitude


def test_beside_the_error_model_they_are_added(write: Write) -> None:
    modelled = load_problem(write())
    both = load_problem(write(with_tolerance("{length: 1, rtol: {float32: 0.5}, atol: 3}"), "both"))
    case = modelled.parse_case("n=3,s=-0.5")
    for dtype, relative in (("float32", 0.5), ("float16", 0.0)):
        x = {"x": X["x"].to(getattr(torch, dtype))}
        before, after = (
            next(iter(Reference(p).expectations(case, dtype, x).values())) for p in (modelled, both)
        )
        more = after.allowed - before.allowed
        assert more.tolist() == pytest.approx([3 + relative * 0.5, 3 + relative, 3], rel=1e-12)


def test_a_magnitude_is_needed_where_it_counts_and_only_there(write: Write) -> None:
    with pytest.raises(ProblemError, match="magnitude: the file defines no such function") as no:
        Reference(load_problem(write(reference=BARE)))
    assert "; write def magnitude(s, n, x), which returns the same sums of" in str(no.value)
    for number, text in enumerate(
        (
            with_tolerance("{length: 1, constant: 0}"),
            MINIMAL.replace("dtypes: [float32, float16]", "dtypes: [int32]"),
        )
    ):
        body = BARE.replace("s\n", "int(s)\n") if number else BARE
        problem = load_problem(write(text, f"other{number}", reference=body))
        case = problem.parse_case("n=3,s=2")
        x = {"x": X["x"].to(getattr(torch, problem.dtypes[0]))}
        assert Reference(problem).expectations(case, problem.dtypes[0], x).keys() == {"y"}


def test_exact_outputs_need_no_tolerance(write: Write) -> None:
    exact = MINIMAL.replace("tolerance: {length: 1}\n", "")
    assert load_problem(write(exact)).missing == ("no tolerance",)
    integers = exact.replace("dtypes: [float32, float16]", "dtypes: [int32, uint8]")
    problem = load_problem(write(integers, "integers"))
    assert problem.complete
    case = problem.parse_case("n=3,s=2")
    assert weights_of(problem, case, problem.outputs[0], "uint8") is None


@pytest.mark.parametrize(
    ("tolerance", "message"),
    [
        ("{rtol: -1}", "tolerance.rtol: must not be negative, not -1"),
        ("{rtol: x}", "tolerance.rtol: must be a finite number, not 'x'"),
        (
            "{atol: {float31: 1}}",
            "tolerance.atol: unknown data type float31 (did you mean float32?)",
        ),
        ("{atol: {float32: 1}}", "tolerance: has neither rtol nor atol for float16"),
        ("{atol: 1, factor: 2}", "tolerance.length: is missing"),
        ("{atol: 1, inputs: {float32: tf32}}", "tolerance.length: is missing"),
        ("{}", "tolerance.length: is missing"),
        ("{atol: 1, rol: 1}", "tolerance.rol: unknown key (did you mean rtol?)"),
        ("{rol: 1}", "tolerance.length: is missing"),
    ],
)
def test_mistakes(write: Write, tolerance: str, message: str) -> None:
    with pytest.raises(ProblemError) as caught:
        load_problem(write(with_tolerance(tolerance)))
    assert message in [f"{d.key}: {d.message}" for d in caught.value.diagnostics]


def shown(write: Write, tolerance: str) -> str:
    console = Console(width=120, record=True, force_terminal=False)
    render_problem(load_problem(write(with_tolerance(tolerance))), console)
    return console.export_text().partition("Tolerance")[2].partition("Baselines")[0]


def test_they_are_shown(write: Write) -> None:
    alone = shown(write, "{rtol: 1e-3, atol: 1e-5}")
    assert " ".join(alone.split()) == "An element may be off by 1e-05 + 0.001 · |expected|"
    both = shown(write, "{length: 1, rtol: {float32: 1e-3, float16: 0.5}}")
    assert "u_acc · (16 · magnitude" in both
    assert "  + 0 + 0.001 · |expected| (float32)" in both
    assert "  + 0 + 0.5 · |expected| (float16)" in both
    data = json.loads(problem_json(load_problem(write(with_tolerance("{atol: 2}")))))
    assert data["tolerance"]["atol"] == {"float32": 2, "float16": 2}
    assert data["tolerance"]["rtol"] == {"float32": 0, "float16": 0}


def test_less_precise_impostors_are_excused_where_numbers_are_stated(write: Write) -> None:
    traits = ReferenceTraits(
        sums=True,
        products=True,
        functions=False,
        maxima=False,
        additions=False,
        roundings=1,
        magnified=False,
        unknown=(),
    )
    text = with_tolerance("{length: 1, rtol: {float16: 0.01}}")
    problem = load_problem(write(text))
    for dtype, excused in (("float16", True), ("float32", False)):
        found = [one for one in impostors(problem, dtype, traits) if one.precision]
        assert found
        assert all(bool(one.excuse) is excused for one in found)
