"""Check that a package's front matter, statement and reference are what grading relies on."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from harness.errors import ProblemError
from harness.problem.answer_check import AnswerCheck
from harness.problem.case import Case
from harness.problem.format.frontmatter import read_front_matter
from harness.problem.format.load import namesakes
from harness.problem.model import CHECK, DRAW, REFERENCE_FILE, STATEMENT_FILE
from harness.problem.package import Problem
from harness.problem.sampling.drawn_on_device import SLOW, DrawnOnDevice
from harness.verify.findings import PackageReport
from harness.verify.trial import PackageTask, Trial, as_type, equal, inexact, same_bits

_SLACK = 1e-6
"""Relative amount by which a magnitude may be below what is expected: it is rounded, too."""

_VARIED = 64
"""Elements from which on what is drawn for two calls is expected to differ."""

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
        if not mentions(problem.statement, parameter.name):
            report.warn(
                f"{path}:{parameter.line}",
                f"the statement does not mention the parameter {parameter.name}",
                "say what it means",
            )


def mentions(statement: str, name: str) -> bool:
    """Whether ``name`` stands in ``statement`` as a word, or as a letter or word of a formula."""
    if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", statement):
        return True
    in_tex = rf"(?<![A-Za-z\\]){re.escape(name)}(?![A-Za-z])"
    formulas = re.findall(r"\$\$.+?\$\$|\$[^$]+?\$", statement, re.DOTALL)
    return any(re.search(in_tex, each.replace("\\_", "_")) for each in formulas)


@dataclass(frozen=True, slots=True)
class ReferenceCheck:
    """Checks the reference in each case of a grade; reports each kind of fault once per data type.

    A trial has its expectations from the reference already: here it is evaluated again.
    """

    task: PackageTask
    report: PackageReport
    _reported: set[str] = field(default_factory=set, init=False)
    _alike: list[tuple[str, bool]] = field(default_factory=list, init=False)
    """Each case with enough that is drawn, and whether two calls of it got the same."""

    def finish(self) -> None:
        """Warn, after the last case, where what is drawn is the same in most of them.

        In a few it may be: one row that has every column can be filled in one way.
        """
        same = [spec for spec, alike in self._alike if alike]
        if 2 * len(same) > len(self._alike):
            message = f"{DRAW} makes the same for two calls (case {same[0]})"
            self._warn(message, "draw other tensors for each call: who knows them need not look")

    def __call__(self, trial: Trial) -> None:
        """Check one case.

        Raises:
            ProblemError: the reference fails outright.
        """
        self._check_again(trial)
        self._check_draw(trial)
        self._check_numbers(trial)
        self._check_check(trial)
        if not self.task.device.emulated:
            self._check_devices(trial)
            self._check_draw_on_device(trial.case)

    def _error(self, trial: Trial, message: str, remedy: str) -> None:
        """Report a fault, unless one with this remedy was reported before."""
        if remedy not in self._reported:
            self._reported.add(remedy)
            place = str(self.task.problem.folder / REFERENCE_FILE)
            case = f"{self.task.dtype}, case {trial.case.spec}, seed {self.task.seed}"
            self.report.error(place, f"{message} ({case})", remedy)

    def _warn(self, message: str, remedy: str) -> None:
        """The same as a warning, of what may be meant."""
        if remedy not in self._reported:
            self._reported.add(remedy)
            self.report.warn(str(self.task.problem.folder / REFERENCE_FILE), message, remedy)

    def _check_again(self, trial: Trial) -> None:
        """Check that the same inputs give the same bits, and stay as they are."""
        given = {name: x.clone() for name, x in trial.inputs[0].items()}
        again = self.task.reference.expected(trial.case, given)
        for name, one in again.items():
            if not same_bits(one, trial.expected[0][name].expected):
                message = f"not deterministic: {name} differs when evaluated twice"
                self._error(trial, message, "leave out what is random, or remembered")
        for name, x in given.items():
            if not same_bits(x, trial.inputs[0][name]):
                self._error(trial, f"the reference writes to its input {name}", "work on a copy")

    def _check_draw(self, trial: Trial) -> None:
        """Check that the author's function draws the same from the same seed."""
        drawn = [p for p in self.task.problem.tensors if p.drawn]
        if not drawn:
            return
        first, second = (
            torch.cat([inputs[p.name].flatten().double() for p in drawn]) for inputs in trial.inputs
        )
        if len(first) >= _VARIED:
            self._alike.append((trial.case.spec, torch.equal(first, second)))
        again = self.task.problem.inputs().drawn_again(trial.case, f"{self.task.seed}/0")
        for name, wide in again.items():
            known = trial.inputs[0][name].cpu()
            if not same_bits(as_type(wide, known.dtype), known):
                message = f"{DRAW} is not deterministic: {name} differs when drawn twice"
                remedy = "draw with its generator alone, and remember nothing"
                self._error(trial, message, remedy)

    def _check_draw_on_device(self, case: Case) -> None:
        """Warn where timed calls cannot be drawn on the GPU that they run on."""
        problem = self.task.problem
        if not any(p.drawn for p in problem.tensors):
            return
        there = DrawnOnDevice(problem, problem.inputs(), self.task.device.torch_device)
        if (why := there.why_not(case)) and why != SLOW:
            message = f"{DRAW} does not work on a GPU ({why}), so processors draw for timed calls"
            self._warn(message, "make all tensors by torch, without a device and without NumPy")

    def _check_check(self, trial: Trial) -> None:
        """Try the author's check with the right answer, and with bits that are none.

        On the CPU: there an index that leads out of a tensor is an exception that can be told.
        """
        on_cpu = {name: x.cpu() for name, x in trial.inputs[0].items()}
        known = self.task.reference.expectations(trial.case, self.task.dtype, on_cpu)
        check = next(iter(known.values())).check
        if not isinstance(check, AnswerCheck):
            return
        right = {name: x.cpu() for name, x in trial.right[0].items()}
        for name, verdict in check.strictly(right).items():
            if not bool(verdict.all()):
                message = f"{CHECK} refuses the reference's own answer for {name}"
                self._error(trial, message, "it must allow for the rounding to the output's type")
        for worst in (_least, _most):
            wrong = {name: worst(x) for name, x in right.items()}
            try:
                verdicts = check.strictly(wrong)
            except ProblemError as error:
                remedy = "a submission may write anything: clamp indices before they are used"
                what = f"{CHECK} raises an exception for a wrong answer"
                self._error(trial, f"{what}: {error.diagnostics[0].message}", remedy)
                continue
            for name, verdict in verdicts.items():
                alike = wrong[name].dtype is torch.bool or equal(wrong[name], right[name])
                if bool(verdict.all()) and not alike:
                    value = wrong[name].flatten()[0].item()
                    message = f"{CHECK} accepts {value} everywhere in {name}"
                    self._error(trial, message, "it must find what is wrong")

    def _check_numbers(self, trial: Trial) -> None:
        """Check that results are finite where inputs are, and magnitudes at least the results."""
        finite = all(_all_finite(x) for x in trial.inputs[0].values())
        task, inputs = self.task, trial.inputs[0]
        reference = task.reference
        sums = reference.magnitude(trial.case, inputs) if reference.has_magnitude else {}
        for name, one in trial.expected[0].items():
            if not inexact(one.expected):
                continue
            sound = finite and _all_finite(one.expected)
            if finite and not sound:
                message = f"{name} is not finite though all inputs are"
                remedy = "evaluate it so that nothing overflows, or draw other values"
                self._error(trial, message, remedy)
            if name in sums:
                self._check_magnitude(trial, name, sums[name], one.expected if sound else None)

    def _check_magnitude(
        self, trial: Trial, name: str, summed: Tensor, known: Tensor | None
    ) -> None:
        """Check what was summed for an output, against what is ``known`` where that is finite."""
        size = summed.abs() if summed.is_complex() else summed.to(torch.float64)
        if bool((size < 0).any()):
            message = f"the magnitude of {name} is negative somewhere"
            self._error(trial, message, "sum absolute values")
        if known is None:
            return
        if not _all_finite(size):
            message = f"the magnitude of {name} is not finite though all inputs are"
            self._error(trial, message, "an infinite allowance allows nothing")
        elif bool((size < known.abs() * (1 - _SLACK)).any()):
            message = f"the magnitude of {name} is less than {name} itself"
            remedy = "it is what was summed without its signs, so at least the result's size"
            self._error(trial, message, remedy)

    def _check_devices(self, trial: Trial) -> None:
        """Check that the CPU gives the same as the GPU, but for a small part of what is allowed."""
        on_cpu = {name: x.cpu() for name, x in trial.inputs[0].items()}
        there = self.task.reference.expectations(trial.case, self.task.dtype, on_cpu)
        double = self.task.dtype in ("float64", "complex128")
        part = _BETWEEN_DEVICES_DOUBLE if double else _BETWEEN_DEVICES
        verdicts: Mapping[str, Tensor] = {}
        if (check := next(iter(trial.expected[0].values())).check) is not None:
            where = self.task.device.torch_device
            verdicts = check({name: each.expected.to(where) for name, each in there.items()})
        for name, here in trial.expected[0].items():
            if name in verdicts:  # of equal answers each may find another
                near = bool(verdicts[name].all())
            else:
                near = _near(here.expected.cpu(), there[name].expected, here.allowed.cpu() * part)
            if not near:
                message = f"{name} on the CPU and on the GPU differ by more than {part:g} allowed"
                remedy = "a reference must not depend on the device: avoid what is unstable"
                self._error(trial, message, remedy)


def _least(x: Tensor) -> Tensor:
    return torch.full_like(x, -math.inf if inexact(x) else _ends(x.dtype)[0])


def _most(x: Tensor) -> Tensor:
    return torch.full_like(x, math.nan if inexact(x) else _ends(x.dtype)[1])


def _ends(kind: torch.dtype) -> tuple[int, int]:
    """The least and the greatest integer of a type; of booleans false and true."""
    return (0, 1) if kind is torch.bool else (torch.iinfo(kind).min, torch.iinfo(kind).max)


def _near(a: Tensor, b: Tensor, allowed: Tensor) -> bool:
    if not inexact(a):
        return torch.equal(a, b)
    return bool(((a == b) | (a.isnan() & b.isnan()) | ((a - b).abs() <= allowed)).all())


def _all_finite(x: Tensor) -> bool:
    return not inexact(x) or bool(x.isfinite().all())
