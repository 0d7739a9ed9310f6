"""What only a machine with a GPU would find in a package, on a CPU that poses as one."""

import shutil
from pathlib import Path

import pytest

from harness.device.cpu import CpuDevice
from harness.problem.case import parse_case
from harness.problem.format.load import load_problem
from harness.problem.reference import Reference
from harness.verify.findings import PackageReport
from harness.verify.soundness import ReferenceCheck
from harness.verify.trial import PackageTask

CSR = Path(__file__).parents[1] / "support/author_packages/csr"


@pytest.mark.parametrize("fails", [False, True])
def test_a_structure_that_processors_have_to_draw_is_told(tmp_path: Path, fails: bool) -> None:
    folder = tmp_path / "csr"
    shutil.copytree(CSR, folder)
    if fails:
        file = folder / "reference.py"
        file.write_text(file.read_text().replace("    cuts =", "    1 / 0\n    cuts ="))
    problem = load_problem(folder)
    report = PackageReport(slug=problem.slug)
    task = PackageTask(problem, Reference(problem), "float32", CpuDevice(), "a secret")
    check = ReferenceCheck(task, report)
    for spec in ("rows=4,cols=5,nnz=20", "rows=3,cols=5,nnz=15"):
        check._check_draw_on_device(parse_case(problem, spec))
    messages = [found.message for found in report.findings]
    why = "draw does not work on a GPU (ZeroDivisionError: division by zero)"
    assert messages == ([f"{why}, so processors draw for timed calls"] if fails else [])
