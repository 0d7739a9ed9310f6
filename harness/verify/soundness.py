"""Check that a package's front matter, statement and reference are what grading relies on."""

import re

import torch
from torch import Tensor

from harness.problem.format.frontmatter import read_front_matter
from harness.problem.format.load import REFERENCE_FILE, STATEMENT_FILE, namesakes
from harness.problem.model import Problem
from harness.verify.findings import PackageReport
from harness.verify.trial import PackageTask, Trial

_SLACK = 1e-6
"""Relative amount by which a magnitude may be below what is expected: it is rounded, too."""

_BETWEEN_DEVICES = 0.1
"""Part of the allowance by which the reference may differ between CPU and GPU."""

_BETWEEN_DEVICES_DOUBLE = 0.5
"""The same for float64, where the reference is no more precise than a submission may be."""


def check_statement(problem: Problem, report: PackageReport) -> None:
    """Check that the front matter is complete, the slug unique, and every parameter explained."""
    path = problem.folder / STATEMENT_FILE
    for other in namesakes(problem.folder, problem.slug):
        report.error(
            f"{path}:{read_front_matter(path).lines.get(('slug',), 1)}",
            f"the slug {problem.slug} is also that of {other.name}",
            "give each its own: results and boards go by it",
        )
    for what in problem.missing:
        report.error(
            f"{path}:1", f"cannot be graded: {what}", "docs/reference/problem-format.md says how"
        )
    if not problem.statement.strip():
        report.error(f"{path}:1", "there is no statement", "write it below the front matter")
        return
    for parameter in problem.parameters:
        if not re.search(rf"(?<!\w){re.escape(parameter.name)}(?!\w)", problem.statement):
            report.warn(
                f"{path}:{parameter.line}",
                f"the statement does not mention the parameter {parameter.name}",
                "say what it means",
            )


class ReferenceCheck:
    """Checks the reference in each case of a grade; reports each kind of fault once per data type.

    A trial has its expectations from the reference already: here it is evaluated again.
    """

    def __init__(self, task: PackageTask, report: PackageReport) -> None:
        self._task = task
        self._report = report
        self._path = str(task.problem.folder / REFERENCE_FILE)
        self._reported: set[str] = set()

    def __call__(self, trial: Trial) -> None:
        """Check one case.

        Raises:
            ProblemError: the reference fails outright.
        """
        self._check_again(trial)
        self._check_numbers(trial)
        if not self._task.device.emulated:
            self._check_devices(trial)

    def _error(self, key: str, trial: Trial, message: str, remedy: str) -> None:
        if key not in self._reported:
            self._reported.add(key)
            task = self._task
            case = f"{task.dtype}, case {trial.case.spec}, seed {task.seed}"
            self._report.error(self._path, f"{message} ({case})", remedy)

    def _check_again(self, trial: Trial) -> None:
        """Check that the same inputs give the same bits, and stay as they are."""
        task = self._task
        given = {name: x.clone() for name, x in trial.inputs[0].items()}
        again = task.reference.expected(trial.case, given)
        for name, one in again.items():
            if not _same_bits(one, trial.expected[0][name].expected):
                message = f"not deterministic: {name} differs when evaluated twice"
                self._error("twice", trial, message, "leave out what is random, or remembered")
        for name, x in given.items():
            if not _same_bits(x, trial.inputs[0][name]):
                message = f"the reference writes to its input {name}"
                self._error("writes", trial, message, "work on a copy")

    def _check_numbers(self, trial: Trial) -> None:
        """Check that results are finite where inputs are, and magnitudes at least the results."""
        task, case = self._task, trial.case
        finite = all(_all_finite(x) for x in trial.inputs[0].values())
        magnitude = task.reference.magnitude(case, trial.inputs[0])
        for name, summed in magnitude.items():
            known = trial.expected[0][name]
            if not (known.expected.is_floating_point() or known.expected.is_complex()):
                continue
            size = summed.abs() if summed.is_complex() else summed.to(torch.float64)
            if bool((size < 0).any()):
                message = f"the magnitude of {name} is negative somewhere"
                self._error("negative", trial, message, "sum absolute values")
            if not finite:
                continue
            if not _all_finite(known.expected):
                message = f"{name} is not finite though all inputs are"
                remedy = "evaluate it so that nothing overflows, or draw other values"
                self._error("infinite", trial, message, remedy)
            elif not _all_finite(size):
                message = f"the magnitude of {name} is not finite though all inputs are"
                self._error("magnitude", trial, message, "an infinite allowance allows nothing")
            elif bool((size < known.expected.abs() * (1 - _SLACK)).any()):
                message = f"the magnitude of {name} is less than {name} itself"
                remedy = "it is what was summed without its signs, so at least the result's size"
                self._error("small", trial, message, remedy)

    def _check_devices(self, trial: Trial) -> None:
        """Check that the CPU gives the same as the GPU, but for a small part of what is allowed."""
        task = self._task
        on_cpu = {name: x.cpu() for name, x in trial.inputs[0].items()}
        there = task.reference.expectations(trial.case, task.dtype, on_cpu)
        double = task.dtype in ("float64", "complex128")
        part = _BETWEEN_DEVICES_DOUBLE if double else _BETWEEN_DEVICES
        for name, here in trial.expected[0].items():
            if not _near(here.expected.cpu(), there[name].expected, here.allowed.cpu() * part):
                message = f"{name} on the CPU and on the GPU differ by more than {part:g} allowed"
                remedy = "a reference must not depend on the device: avoid what is unstable"
                self._error("devices", trial, message, remedy)


def _near(a: Tensor, b: Tensor, allowed: Tensor) -> bool:
    same = (a == b) | (a.isnan() & b.isnan()) if a.is_floating_point() or a.is_complex() else a == b
    if not (a.is_floating_point() or a.is_complex()):
        return bool(same.all())
    return bool((same | ((a - b).abs() <= allowed)).all())


def _same_bits(a: Tensor, b: Tensor) -> bool:
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.is_complex():
        a, b = torch.view_as_real(a), torch.view_as_real(b)
    if a.is_floating_point():
        raw = {2: torch.int16, 4: torch.int32, 8: torch.int64}[a.element_size()]
        a, b = a.contiguous().view(raw), b.contiguous().view(raw)
    return torch.equal(a, b)


def _all_finite(x: Tensor) -> bool:
    if not (x.is_floating_point() or x.is_complex()):
        return True
    return bool(x.isfinite().all())
