"""Timed calls' structures are drawn where they run, if that gives the same each time, and soon."""

import textwrap
from pathlib import Path

import pytest
import torch
from support.drawn_packages import CSR, csr_that_draws
from support.noted_source import NotedSource
from torch import Tensor

from harness.errors import ProblemError
from harness.problem.case import parse_case
from harness.problem.format.load import load_problem
from harness.problem.package import Problem
from harness.problem.sampling import drawn_on_device
from harness.problem.sampling.drawn_on_device import DrawnOnDevice

SPARSE = Path(__file__).parents[3] / "problems/sparse-matvec"
SPEC = "rows=4,cols=5,nnz=20"
KINDS = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known, and no machine is too slow."""
    monkeypatch.setattr(drawn_on_device, "_tried", {})
    monkeypatch.setattr(drawn_on_device, "_LEAST_S", 60.0)


def package(tmp_path: Path, body: str) -> Problem:
    """The package csr with another ``draw``, of its arguments and ``g``, the generator."""
    begin = "def draw(generator, rows, cols, nnz):\n    g = generator\n"
    definition = begin + textwrap.indent(body, "    ")
    return load_problem(csr_that_draws(tmp_path / "csr", definition).parent)


def written(
    problem: Problem, source: DrawnOnDevice, seed: str, spec: str = SPEC, device: str = "cpu"
) -> dict[str, Tensor]:
    """All that is read of one call."""
    case = parse_case(problem, spec)
    made = {}
    for tensor in problem.tensors_of(case, "float32"):
        if tensor.together:
            kind = getattr(torch, tensor.dtype)
            made[tensor.name] = torch.zeros(tensor.shape, dtype=kind, device=device)
            source.write(made[tensor.name], tensor, case, seed)
    return made


@pytest.mark.parametrize("device", KINDS)
def test_a_call_is_of_one_drawing_that_its_seed_decides(device: str) -> None:
    problem, elsewhere = load_problem(CSR), NotedSource()
    source = DrawnOnDevice(problem, elsewhere, device)
    first, again, other = (written(problem, source, s, device=device) for s in ("1", "1", "2"))
    assert {x.device.type for x in first.values()} == {device}
    assert torch.equal(first["row_ptr"], again["row_ptr"])
    assert torch.equal(first["col"], again["col"])
    assert not torch.equal(first["col"], other["col"])
    for row in range(4):  # a drawing of another call's row_ptr would have them in no order
        begin, end = first["row_ptr"][row : row + 2].tolist()
        assert bool((first["col"][begin:end].diff() >= 0).all())
    assert elsewhere.asked == []


@pytest.mark.gpu
@pytest.mark.parametrize("number", range(4))
def test_large_matrices_are_drawn_on_a_gpu_in_no_time(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # of the seconds that it may take
    problem, elsewhere = load_problem(SPARSE), NotedSource()
    case = problem.timed_cases(emulated=False)[number]
    made = written(problem, DrawnOnDevice(problem, elsewhere, "cuda"), "1", case.spec, "cuda")
    assert elsewhere.asked == []
    assert int(made["row_ptr"][-1]) == case.values["nnz"]
    assert int(made["row_ptr"].diff().max()) == case.values["longest"]
    assert 0 <= int(made["col_idx"].min()) <= int(made["col_idx"].max()) < case.values["cols"]


def test_tensors_that_are_not_drawn_together_are_the_others_business() -> None:
    problem, elsewhere = load_problem(CSR), NotedSource()
    source = DrawnOnDevice(problem, elsewhere, "cpu")
    case = parse_case(problem, SPEC)
    alone = {t.name: t for t in problem.tensors_of(case, "float32") if not t.together}
    source.draw(alone["x"], case, "1")
    source.fill(torch.zeros(2, 5), alone["x"], case, "1", warm_up=False)
    assert elsewhere.asked == ["x", "x"]


ROWS = "torch.tensor([0, 1, 2, 3, 20])"


COLUMNS = {
    "not the same": (
        "torch.randint(0, cols, (nnz,))",
        "two drawings with the same generator differ",
    ),
    "another shape": ("torch.zeros(nnz + 1)", "col has shape (21,), not (20,)"),
    "no tensor": ("[0] * nnz", "col: a list is no tensor"),
    "elsewhere": (
        'torch.zeros(nnz, device="meta")',
        "col must be a dense tensor on the CPU",
    ),
    "another kind": (
        "torch.zeros(nnz)",
        "col holds torch.float32 numbers, and the parameter integers",
    ),
    "an error": ("1 / 0", "ZeroDivisionError: division by zero"),
}


@pytest.mark.parametrize(("column", "why"), COLUMNS.values(), ids=COLUMNS.keys())
def test_what_does_not_work_there_is_drawn_elsewhere(tmp_path: Path, column: str, why: str) -> None:
    problem = package(tmp_path, f'return {{"row_ptr": {ROWS}, "col": {column}}}')
    elsewhere = NotedSource()
    source = DrawnOnDevice(problem, elsewhere, "cpu")
    assert source.why_not(parse_case(problem, SPEC)) == why
    written(problem, source, "1")
    assert elsewhere.asked == ["row_ptr", "col"]


def test_what_is_not_returned_is_drawn_elsewhere(tmp_path: Path) -> None:
    problem = package(tmp_path, f'return {{"row_ptr": {ROWS}}}')
    why = DrawnOnDevice(problem, NotedSource(), "cpu").why_not(parse_case(problem, SPEC))
    assert why == "must return a tensor for each of row_ptr, col; there are row_ptr"


def test_what_takes_long_there_is_drawn_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawn_on_device, "_LEAST_S", -1.0)
    problem = load_problem(CSR)
    why = DrawnOnDevice(problem, NotedSource(), "cpu").why_not(parse_case(problem, SPEC))
    assert why == drawn_on_device.SLOW


def test_it_is_tried_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    drawn = f'{{"row_ptr": {ROWS}, "col": torch.randint(0, cols, (nnz,), generator=g)}}'
    problem = package(tmp_path, f"open({str(log)!r}, 'a').write('.')\nreturn {drawn}")
    for _ in range(2):
        assert DrawnOnDevice(problem, NotedSource(), "cpu").works(parse_case(problem, SPEC))
    assert log.read_text() == ".."


def test_a_mistake_that_shows_later_is_the_authors(tmp_path: Path) -> None:
    wrong = f'return {{"row_ptr": {ROWS}, "col": torch.full((nnz,), 2**40)}}'
    problem = package(tmp_path, wrong)
    with pytest.raises(ProblemError, match="int32 ends at") as raised:
        written(problem, DrawnOnDevice(problem, NotedSource(), "cpu"), "1")
    (found,) = raised.value.diagnostics
    assert found.path.read_text().splitlines()[found.line - 1].startswith("def draw")


def test_what_torch_may_do_is_as_it_was(tmp_path: Path) -> None:
    seen = (
        "assert torch.are_deterministic_algorithms_enabled()\n"
        f'return {{"row_ptr": {ROWS}, "col": torch.zeros(nnz, dtype=torch.int64)}}'
    )
    problem = package(tmp_path, seen)
    assert DrawnOnDevice(problem, NotedSource(), "cpu").works(parse_case(problem, SPEC))
    assert not torch.are_deterministic_algorithms_enabled()
