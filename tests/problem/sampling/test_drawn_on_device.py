"""Timed calls' structures are drawn where they run, if that gives the same each time, and soon."""

import shutil
from pathlib import Path

import pytest
import torch
from torch import Tensor

from harness.errors import ProblemError
from harness.problem.case import Case, parse_case
from harness.problem.format.load import load_problem
from harness.problem.package import Problem
from harness.problem.sampling import drawn_on_device
from harness.problem.sampling.drawn_on_device import DrawnOnDevice
from harness.problem.terms import TensorSpec

PACKAGES = Path(__file__).parents[2] / "support/author_packages"
SPARSE = Path(__file__).parents[3] / "problems/sparse-matvec"
SPEC = "rows=4,cols=5,nnz=20"
KINDS = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


class Elsewhere:
    """What is asked for what cannot be drawn on the device."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def draw(self, tensor: TensorSpec, case: Case, seed: str) -> Tensor:
        self.asked.append(tensor.name)
        return torch.zeros(tensor.shape, dtype=getattr(torch, tensor.dtype))

    def write(self, out: Tensor, tensor: TensorSpec, case: Case, seed: str) -> None:
        out.copy_(self.draw(tensor, case, seed))

    def fill(
        self, out: Tensor, tensor: TensorSpec, case: Case, seed: str, *, warm_up: bool
    ) -> None:
        self.asked.append(tensor.name)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known, and no machine is too slow."""
    monkeypatch.setattr(drawn_on_device, "_tried", {})
    monkeypatch.setattr(drawn_on_device, "_LEAST_S", 60.0)


def package(tmp_path: Path, draw: str) -> Problem:
    """The package csr with another ``draw``, of its arguments and ``g``, the generator."""
    folder = tmp_path / "csr"
    shutil.copytree(PACKAGES / "csr", folder)
    file = folder / "reference.py"
    head, _, tail = file.read_text().partition("def draw")
    body = "\n".join(f"    {line}" for line in draw.splitlines())
    rest = tail.partition("def _sums")[2]
    begin = "def draw(generator, rows, cols, nnz):\n    g = generator"
    file.write_text(f"{head}{begin}\n{body}\n\n\ndef _sums{rest}")
    return load_problem(folder)


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
    problem, elsewhere = load_problem(PACKAGES / "csr"), Elsewhere()
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
    problem, elsewhere = load_problem(SPARSE), Elsewhere()
    case = problem.timed_cases(emulated=False)[number]
    made = written(problem, DrawnOnDevice(problem, elsewhere, "cuda"), "1", case.spec, "cuda")
    assert elsewhere.asked == []
    assert int(made["row_ptr"][-1]) == case.values["nnz"]
    assert int(made["row_ptr"].diff().max()) == case.values["longest"]
    assert 0 <= int(made["col_idx"].min()) <= int(made["col_idx"].max()) < case.values["cols"]


def test_tensors_that_are_not_drawn_together_are_the_others_business() -> None:
    problem, elsewhere = load_problem(PACKAGES / "csr"), Elsewhere()
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
    "another shape": ("torch.zeros(nnz + 1)", "col is no dense tensor (20,) on cpu"),
    "no tensor": ("[0] * nnz", "col is no dense tensor (20,) on cpu"),
    "elsewhere": ('torch.zeros(nnz, device="meta")', "col is no dense tensor (20,) on cpu"),
    "an error": ("1 / 0", "ZeroDivisionError: division by zero"),
}


@pytest.mark.parametrize(("column", "why"), COLUMNS.values(), ids=COLUMNS.keys())
def test_what_does_not_work_there_is_drawn_elsewhere(tmp_path: Path, column: str, why: str) -> None:
    problem = package(tmp_path, f'return {{"row_ptr": {ROWS}, "col": {column}}}')
    elsewhere = Elsewhere()
    source = DrawnOnDevice(problem, elsewhere, "cpu")
    assert source.why_not(parse_case(problem, SPEC)) == why
    written(problem, source, "1")
    assert elsewhere.asked == ["row_ptr", "col"]


def test_what_is_not_returned_is_drawn_elsewhere(tmp_path: Path) -> None:
    problem = package(tmp_path, f'return {{"row_ptr": {ROWS}}}')
    why = DrawnOnDevice(problem, Elsewhere(), "cpu").why_not(parse_case(problem, SPEC))
    assert why == "does not return a mapping from row_ptr, col"


def test_what_takes_long_there_is_drawn_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawn_on_device, "_LEAST_S", -1.0)
    problem = load_problem(PACKAGES / "csr")
    why = DrawnOnDevice(problem, Elsewhere(), "cpu").why_not(parse_case(problem, SPEC))
    assert why == drawn_on_device.SLOW


def test_it_is_tried_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    drawn = f'{{"row_ptr": {ROWS}, "col": torch.randint(0, cols, (nnz,), generator=g)}}'
    problem = package(tmp_path, f"open({str(log)!r}, 'a').write('.')\nreturn {drawn}")
    for _ in range(2):
        assert DrawnOnDevice(problem, Elsewhere(), "cpu").works(parse_case(problem, SPEC))
    assert log.read_text() == ".."


def test_a_mistake_that_shows_later_is_the_authors(tmp_path: Path) -> None:
    wrong = f'return {{"row_ptr": {ROWS}, "col": torch.full((nnz,), 2**40)}}'
    problem = package(tmp_path, wrong)
    with pytest.raises(ProblemError, match="int32 ends at"):
        written(problem, DrawnOnDevice(problem, Elsewhere(), "cpu"), "1")


def test_what_torch_may_do_is_as_it_was(tmp_path: Path) -> None:
    seen = (
        "assert torch.are_deterministic_algorithms_enabled()\n"
        f'return {{"row_ptr": {ROWS}, "col": torch.zeros(nnz)}}'
    )
    problem = package(tmp_path, seen)
    assert DrawnOnDevice(problem, Elsewhere(), "cpu").works(parse_case(problem, SPEC))
    assert not torch.are_deterministic_algorithms_enabled()
