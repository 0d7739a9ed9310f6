"""What only a machine with a GPU would find in a package, on a CPU that poses as one."""

from pathlib import Path

import pytest
from support.drawn_packages import CSR, csr_that_draws

from harness.device.cpu import CpuDevice
from harness.problem.case import parse_case
from harness.problem.format.load import load_problem
from harness.problem.reference import Reference
from harness.verify.findings import PackageReport
from harness.verify.soundness import ReferenceCheck
from harness.verify.trial import PackageTask


@pytest.mark.parametrize("fails", [False, True])
def test_a_structure_that_processors_have_to_draw_is_told(tmp_path: Path, fails: bool) -> None:
    folder = CSR
    if fails:
        folder = csr_that_draws(tmp_path / "csr", "def draw(generator): 1 / 0\n").parent
    problem = load_problem(folder)
    report = PackageReport(slug=problem.slug)
    task = PackageTask(problem, Reference(problem), "float32", CpuDevice(), "a secret")
    check = ReferenceCheck(task, report)
    for spec in ("rows=4,cols=5,nnz=20", "rows=3,cols=5,nnz=15"):
        check._check_draw_on_device(parse_case(problem, spec))
    messages = [found.message for found in report.findings]
    why = "draw does not work on a GPU (ZeroDivisionError: division by zero)"
    assert messages == ([f"{why}, so processors draw for timed calls"] if fails else [])
