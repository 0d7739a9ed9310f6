"""What a problem of another format lets pass that computes nothing: its claims ``weak: …``.

An impostor knows the problem and nothing of a call but its inputs. Each writes what it would into
the outputs, and the problem's own tolerance decides, as it does on a submission. It is accepted if
it passes in all cases of all grades tried.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from harness.errors import JudgeError, UsageError
from harness.problem.case import CaseLimits
from harness.problem.gradable import Gradable
from harness.problem.terms import Direction

if TYPE_CHECKING:
    from torch import Tensor

    from harness.problem.case import Case
    from harness.problem.terms import Expectation, TensorSpec

Outputs = Mapping[str, "Tensor"]

MOST_BYTES = 4 << 30
"""For checking a case, up to which it is tried: the judge holds several such sets of tensors. Four
times as much on a card that has eight times as much free."""

NOT_TRIED = "weak: not tried, its tensors are large"

GRADES = 2
"""Grades that impostors are tried in for the claims of a result."""


class Placed(Gradable, Protocol):
    """A problem that knows of which cases a card holds no answers: a foreign one."""

    def is_streamed(self, case: Case) -> bool:
        """Whether a case's right answers come piece by piece on a machine with a card."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call: what it reads, what is right, and what would be for other inputs."""

    written: tuple[TensorSpec, ...]
    inputs: Mapping[str, Tensor]
    right: Mapping[str, Expectation]
    other: Outputs


@dataclass(frozen=True, slots=True, kw_only=True)
class Impostor:
    """One way to compute nothing."""

    name: str
    """What it answers; with ``passes``, the claim."""
    answer: Callable[[Call], Outputs | None]
    """Its outputs, in their own types; None where it has none."""


@dataclass(slots=True, kw_only=True)
class Tried:
    """What became of an impostor."""

    name: str
    """What it answers."""
    cases: int = 0
    """Cases that it was tried in."""
    refused: int = 0
    """Cases in which it was found wrong."""
    lacking: int = 0
    """Cases in which it has no answer, and so none that passes."""
    spec: str = ""
    """The first of those in which it was found wrong."""

    @property
    def accepted(self) -> bool:
        """Whether it was tried in all cases, and passed each time."""
        return self.cases > 0 and self.refused == self.lacking == 0


def weak_claims(problem: Placed, *, emulated: bool) -> tuple[str, ...]:
    """The claims of a problem at the sizes of this machine: found once, the same for all results.

    None where its code fails meanwhile, of which a grade tells.
    """
    import torch

    key = problem.hash, emulated
    with _LOCK:
        if key not in _KNOWN:
            try:
                tried = try_impostors(problem, "weak", GRADES, emulated=emulated)
            except (UsageError, torch.OutOfMemoryError):  # no case is small enough
                _KNOWN[key] = (NOT_TRIED,)
                return _KNOWN[key]
            except JudgeError:
                tried = []
            _KNOWN[key] = tuple(claim(each.name) for each in tried if each.accepted)
        return _KNOWN[key]


_LOCK = threading.Lock()
_KNOWN: dict[tuple[str, bool], tuple[str, ...]] = {}


def claim(name: str) -> str:
    """How a result says that an impostor passes."""
    return f"weak: {name} passes"


def try_impostors(problem: Placed, seed: str, grades: int, *, emulated: bool) -> list[Tried]:
    """Try all impostors in the cases of some grades, each until it is refused or has no answer.

    Raises:
        ProblemError: the problem's code is wrong.
        UsageError: no case is small enough.
    """
    left = {each: Tried(name=each.name) for each in IMPOSTORS}
    found = list(left.values())
    room = CaseLimits(work=1.0 if emulated else None, bytes=_most_bytes(emulated=emulated))
    for number in range(grades):
        grade = f"{seed}-{number}"
        drawn = problem.draw_cases(grade, dtype=problem.dtypes[0], room=room)
        cases = [case for case in drawn if not problem.is_streamed(case)]  # where it is too slow
        if not cases:
            raise UsageError("no card has room for all answers of its cases")
        for case in cases:
            if not left:
                return found
            call = _call(problem, case, grade)
            for impostor in tuple(left):
                answer, tried = impostor.answer(call), left[impostor]
                if answer is None:
                    tried.lacking += 1
                    del left[impostor]
                    continue
                tried.cases += 1
                if not _passes(call, answer):
                    tried.refused, tried.spec = 1, case.spec
                    del left[impostor]
    return found


def _most_bytes(*, emulated: bool) -> int:
    import torch

    if emulated or not torch.cuda.is_available():
        return MOST_BYTES
    free, _ = torch.cuda.mem_get_info()
    return max(MOST_BYTES, min(4 * MOST_BYTES, free // 8))


def _call(problem: Placed, case: Case, seed: str) -> Call:
    """A call of a case, and the answer to another of the same weights."""
    dtype = problem.dtypes[0]
    specs = problem.tensors_of(case, dtype)
    source, key = problem.inputs(), problem.reference()

    def drawn(call: int) -> dict[str, Tensor]:
        read = (spec for spec in specs if spec.direction is not Direction.OUT)
        return {spec.name: source.draw(spec, case, f"{seed}/{call}") for spec in read}

    inputs = drawn(0)
    right = key.expectations(case, dtype, inputs)
    written = tuple(spec for spec in specs if spec.name in right)
    other = key.expectations(case, dtype, drawn(1))
    answers = {spec.name: _typed(other[spec.name].expected, spec) for spec in written}
    return Call(written=written, inputs=inputs, right=right, other=answers)


def _typed(values: Tensor, spec: TensorSpec) -> Tensor:
    import torch

    kind: torch.dtype = getattr(torch, spec.dtype)
    return values.reshape(spec.shape).to(kind)


def _zeros(call: Call) -> Outputs:
    import torch

    return {name: torch.zeros_like(right) for name, right in call.other.items()}


def _constant(call: Call) -> Outputs:
    """The mean of the answer to other inputs, everywhere."""
    import torch

    means = {}
    for spec in call.written:
        values = call.other[spec.name]
        wide = values.to(torch.complex128 if values.is_complex() else torch.float64)
        mean = wide[wide.isfinite()].mean().nan_to_num()
        if not (values.is_floating_point() or values.is_complex()):
            mean = mean.round()
        means[spec.name] = mean.to(values.dtype).expand(spec.shape)
    return means


def _other(call: Call) -> Outputs:
    return call.other


def _own_input(call: Call) -> Outputs | None:
    """For each output the first input of its length."""
    found = {}
    for spec in call.written:
        alike = (x for x in call.inputs.values() if x.numel() == spec.span)
        one = next(alike, None)
        if one is None:
            return None
        found[spec.name] = _typed(one, spec)
    return found


IMPOSTORS: Sequence[Impostor] = (
    Impostor(name="zero answer", answer=_zeros),
    Impostor(name="constant answer", answer=_constant),
    Impostor(name="another input's answer", answer=_other),
    Impostor(name="its own input", answer=_own_input),
)


def _passes(call: Call, answer: Outputs) -> bool:
    """Whether the judge would take the answer: by the format's check, else by distance."""
    first = next(iter(call.right.values()))
    decided = first.check(answer) if first.check is not None else {}
    return _all_right(answer, call.right, decided) or (
        first.otherwise is not None
        and (other := first.otherwise()) is not None
        and _all_right(answer, other, {})
    )


def _all_right(answer: Outputs, right: Mapping[str, Expectation], decided: Outputs) -> bool:
    for name, one in right.items():
        near = decided[name] if name in decided else _near(answer[name], one)
        if not bool(near.all()):
            return False
    return True


def _near(got: Tensor, one: Expectation) -> Tensor:
    import torch

    expected = one.expected
    wide = got.to(torch.complex128 if expected.is_complex() else torch.float64)
    known = expected.to(wide.dtype)
    same = (wide == known) | (wide.isnan() & known.isnan())
    return same | (known.isfinite() & ((wide - known).abs() <= one.allowed))
