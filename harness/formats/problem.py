"""A problem of a foreign format as the judge asks for it; its code runs in a process of its own."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import Diagnostic, ProblemError, UsageError
from harness.problem.case import Case, CaseLimits
from harness.problem.dtypes import DTYPES, DtypeKind
from harness.problem.sampling.footprint import footprint
from harness.problem.terms import (
    CallCost,
    Construction,
    Direction,
    Expectation,
    FormalParameter,
    Limits,
    TensorSpec,
)
from harness.text.plain import printable

if TYPE_CHECKING:
    from torch import Tensor

    from harness.formats.base import Source
    from harness.formats.description import Description, FormatCase

_SPEC = re.compile(r"([a-z]+=[a-z0-9_-]{1,40})(?:,weights=(\d{1,10}))?(,sizes=cpu)?")
_SMALL = ",sizes=cpu"
_OF_THIS_RUN = secrets.token_hex(16)
"""What timed weights follow from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreign:
    """One problem of somebody's checkout: a :class:`~harness.problem.gradable.Gradable`.

    What its process says is asked for when it is first needed; see
    :class:`~harness.formats.client.Problems` for what that raises.
    """

    source: Source
    limits: Limits = field(default_factory=Limits)
    baselines: Mapping[str, Path] = field(default_factory=dict)
    """None yet: nothing of a checkout runs beside a submission as the judge's own."""
    declared: None = None
    libraries: None = None

    @property
    def slug(self) -> str:
        """Begins with the format's name."""
        return self.source.slug

    @property
    def title(self) -> str:
        """As the file says, or is called."""
        return self.source.title

    @property
    def hash(self) -> str:
        """Of the format and all files."""
        return self.source.hash

    @property
    def format(self) -> str:
        """The format's name."""
        return self.source.format

    @property
    def entry(self) -> str:
        """What the format calls."""
        return self.source.entry

    @property
    def named(self) -> str:
        """The path."""
        return str(self.source.path)

    def unfit(self, *, emulated: bool) -> str:
        """Why it cannot be graded here; empty if it can."""
        from harness.formats.client import PROBLEMS, Ungradable

        try:
            PROBLEMS.described(self.source, small=emulated)
        except Ungradable as reason:
            return str(reason)
        return ""

    def claims(self, *, emulated: bool) -> tuple[str, ...]:
        """What the format leaves weaker than a package does."""
        if self.unfit(emulated=emulated):
            return ()
        told = self._described(small=emulated)
        return (*told.claims, f"tolerance: own {told.rtol:g}·|x| + {told.atol:g}")

    @property
    def dtypes(self) -> tuple[str, ...]:
        """One: that of the first floating-point output, else float32."""
        told = self._any_size()
        case = next(iter(told.cases.values())) if told else None
        for tensor in case.tensors if case else ():
            kind = DTYPES[tensor.dtype]
            if tensor.direction is not Direction.IN and kind.kind is DtypeKind.FLOAT:
                return (kind.name,)
        return ("float32",)

    @property
    def parameters(self) -> Sequence[FormalParameter]:
        """Those of the format's entry point; of ``ModelNew``, of ``forward`` and its outputs."""
        told = self._any_size() or self._described(small=False)
        return told.parameters

    def draw_cases(self, seed: str, *, dtype: str, room: CaseLimits) -> list[Case]:  # noqa: ARG002
        """All that the format checks, as far as there is memory for them, cheapest first.

        Raises:
            UsageError: there is memory for none.
        """
        small = room.work is not None
        found = []
        for each in self._described(small=small).cases.values():
            needed = footprint(each.tensors)
            if room.bytes is None or needed <= room.bytes:
                found.append((needed, self._case(each, seed, small=small)))
        if not found:
            raise UsageError(f"{self.named}: there is not the memory for any of its cases here")
        return [case for _, case in sorted(found, key=lambda pair: pair[0])]

    def timed_cases(self, *, emulated: bool) -> list[Case]:
        """Those that the format times; its last, where it times none that it checks."""
        cases = self._described(small=emulated).cases.values()
        timed = [each for each in cases if each.timed] or list(cases)[-1:]
        return [self._case(each, _OF_THIS_RUN, small=emulated) for each in timed]

    def timed_families(self, dtype: str) -> tuple[str, ...]:  # noqa: ARG002
        """None: values are the format's."""
        return ()

    def parse_case(self, spec: str) -> Case:
        """The case of a spec: ``inputs=1,weights=7``, and ``,sizes=cpu`` where sizes were cut."""
        found = _SPEC.fullmatch(spec)
        cases = self._described(small=spec.endswith(_SMALL)).cases
        if found is None or found[1] not in cases:
            known = ", ".join(list(cases)[:20])
            raise UsageError(f"case: {printable(spec)!r} is none (there are {known})")
        each = cases[found[1]]
        if bool(each.construct) != (found[2] is not None):
            wanted = "the seed of its weights" if each.construct else "no weights"
            raise UsageError(f"case: {found[1]} has {wanted}, as in inputs=1,weights=7")
        return _labelled(each, spec)

    def tensors_of(self, case: Case, dtype: str) -> tuple[TensorSpec, ...]:  # noqa: ARG002
        """As the process says."""
        return self.concrete(case)[0].tensors

    def construction(self, case: Case) -> Construction | None:
        """What a submission's module is made with; None where the entry point is no class."""
        each, weights, _ = self.concrete(case)
        return Construction(arguments=each.construct, seed=weights) if each.construct else None

    def work(self, case: Case, dtype: str) -> CallCost:  # noqa: ARG002
        """Unknown."""
        return CallCost()

    def inputs(self) -> ForeignInputs:
        """What the format's code draws."""
        return ForeignInputs(self)

    def reference(self) -> ForeignAnswers:
        """What the format's reference returns."""
        return ForeignAnswers(self)

    def concrete(self, case: Case) -> tuple[FormatCase, int, bool]:
        """What the process said of a case, the seed of its weights, and whether sizes are cut."""
        found = _SPEC.fullmatch(case.spec)
        assert found is not None
        small = found[3] is not None
        return self._described(small=small).cases[found[1]], int(found[2] or 0), small

    def _case(self, each: FormatCase, seed: str, *, small: bool) -> Case:
        label = each.key
        if each.construct:
            digest = sha256(f"weights|{seed}|{self.hash}|{each.key}".encode()).digest()
            label += f",weights={int.from_bytes(digest[:4], 'big')}"
        return _labelled(each, label + (_SMALL if small else ""))

    def _any_size(self) -> Description | None:
        """The cases in small, since that is quicker, else as they are; None if neither runs."""
        small = next((s for s in (True, False) if not self.unfit(emulated=s)), None)
        return None if small is None else self._described(small=small)

    def _described(self, *, small: bool) -> Description:
        from harness.formats.client import PROBLEMS, Ungradable

        try:
            return PROBLEMS.described(self.source, small=small)
        except Ungradable as reason:
            about = Diagnostic(self.source.path, 1, "", f"cannot be graded here: {reason}")
            raise ProblemError([about]) from None


def _labelled(each: FormatCase, label: str) -> Case:
    return Case(sizes=each.sizes, scalars=each.scalars, label=label)


@dataclass(frozen=True, slots=True)
class ForeignInputs:
    """Inputs by the format's own code, from seeds of ours: an ``InputSource``."""

    problem: Foreign

    def draw(self, tensor: TensorSpec, case: Case, seed: str) -> Tensor:
        """One tensor of a call, drawn with the others."""
        from harness.formats.client import PROBLEMS

        each, _, small = self.problem.concrete(case)
        digest = sha256(f"draw|{seed}|{self.problem.hash}|{case.spec}".encode()).digest()
        bits = int.from_bytes(digest[:8], "big") >> 1
        drawn = PROBLEMS.drawn(self.problem.source, each, small=small, seed=bits)
        return drawn[tensor.name]

    def fill(
        self, out: Tensor, tensor: TensorSpec, case: Case, seed: str, *, warm_up: bool
    ) -> None:
        """Call by call; a warm-up's calls are alike."""
        for number, call in enumerate(out):
            call.copy_(self.draw(tensor, case, f"{seed}/{0 if warm_up else number}"))


@dataclass(frozen=True, slots=True)
class ForeignAnswers:
    """The format's reference, in float64 where it runs, and the format's tolerance around it."""

    problem: Foreign
    capturable: bool = False

    def expectations(
        self,
        case: Case,
        dtype: str,  # noqa: ARG002 (the Protocol's)
        inputs: Mapping[str, Tensor],
        *,
        summed: bool = True,  # noqa: ARG002 (likewise)
    ) -> dict[str, Expectation]:
        """What is right, and ``rtol · |right| + atol``; nothing for whole numbers."""
        import torch

        from harness.formats.client import PROBLEMS

        each, weights, small = self.problem.concrete(case)
        told = self.problem._described(small=small)
        right = PROBLEMS.right(self.problem.source, each, inputs, small=small, weights=weights)
        device = next((tensor.device for tensor in inputs.values()), torch.device("cpu"))
        found = {}
        for name, tensor in right.items():
            expected = tensor.to(device)
            inexact = expected.is_floating_point() or expected.is_complex()
            allowed = (
                expected.abs().mul_(told.rtol).add_(told.atol)
                if inexact
                else torch.zeros(expected.shape, dtype=torch.float64, device=device)
            )
            found[name] = Expectation(expected=expected, allowed=allowed)
        return found
