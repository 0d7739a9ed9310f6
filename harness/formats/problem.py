"""A problem of a foreign format as the judge asks for it; its code runs in a process of its own."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import Diagnostic, ProblemError, UsageError
from harness.formats.base import shortened
from harness.formats.baseline import NAME as BASELINE
from harness.formats.baseline import reference_program
from harness.formats.expected import SIGNED
from harness.formats.plans import LABELLED, Plan, chosen, in_pieces, is_for, planned, plans
from harness.formats.specs import SMALL, labelled, read, taken_apart
from harness.formats.weakness import weak_claims
from harness.problem.case import Case, CaseLimits
from harness.problem.dtypes import C_TYPES, DTYPES, DtypeKind
from harness.problem.terms import (
    CallCost,
    Construction,
    Direction,
    FormalParameter,
    Limits,
    Role,
    TensorSpec,
)
from harness.records.refs import MEASURED
from harness.text.numbers import bytes_
from harness.text.plain import printable

if TYPE_CHECKING:
    from torch import Tensor

    from harness.formats.base import Source
    from harness.formats.description import Description, FormatCase, ModuleWeight
    from harness.formats.sources import ForeignAnswers, ForeignInputs
    from harness.formats.weights import MatchedWeight

MEASURING = 1
"""Counts changes to how tolerances are measured."""
MOST_TIMED = 10
"""Shapes that are timed."""
_HOST_BYTES = 16 << 30
"""Of host memory for a submission: modules are made there, and some have gigabytes of weights."""
_MOST_CALL_S = 60.0
"""Of one call, whatever the problem lets its tests take."""
_FIXED = "weights: fixed for a grade"
_OF_THIS_RUN = secrets.token_hex(16)
"""What timed weights follow from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreign:
    """One problem of somebody's checkout: a :class:`~harness.problem.gradable.Gradable`.

    What its process says is asked for when it is first needed; see
    :class:`~harness.formats.processes.Problems` for what that raises.
    """

    source: Source
    measured: bool = False
    """Whether the tolerance is measured instead of the format's own; then it is another problem."""
    weights: tuple[MatchedWeight, ...] = ()
    """Those of a submission's module that each call has values of its own for; none: all stay those
    of a case's seed."""
    redrawn: frozenset[str] = frozenset()
    """Names of weights with values around those that they are made with, for checks beyond the
    format's own."""
    declared: None = None
    libraries: None = None

    @property
    def slug(self) -> str:
        """Begins with the format's name; ends in ``-measured`` where the tolerance is measured."""
        return shortened(self.source.slug, MEASURED) if self.measured else self.source.slug

    @property
    def title(self) -> str:
        """As the file says, or is called."""
        return self.source.title

    @property
    def hash(self) -> str:
        """Of the format and all files, and whose tolerance decides."""
        if not self.measured:
            return self.source.hash
        return sha256(f"{self.source.hash}|measured tolerance {MEASURING}".encode()).hexdigest()

    @property
    def limits(self) -> Limits:
        """A call may take what the problem lets its tests take, a minute at most."""
        usual = Limits(host_bytes=_HOST_BYTES)
        told = min(self.source.tests_s, _MOST_CALL_S)
        return replace(usual, call_s=max(usual.call_s, told))

    @property
    def baselines(self) -> Mapping[str, Path]:
        """The reference (:mod:`harness.formats.baseline`), never run as the judge's own."""
        return {BASELINE: self.source.code or self.source.path}

    def program(self) -> tuple[str, bytes]:
        """The entry point and text of a program that computes what the reference does."""
        return reference_program(self.source)

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
        from harness.formats.client import Ungradable
        from harness.formats.processes import PROBLEMS

        if self.source.lack:
            return self.source.lack
        try:
            told = PROBLEMS.described(self.source, small=emulated)
            if self.measured:
                self._measure(told, told.cases.values(), small=emulated)
        except Ungradable as reason:
            return str(reason)
        return ""

    def unmeasured(self, case: Case) -> str:
        """Why no tolerance can be measured in a case; empty if it can."""
        from harness.formats.client import Ungradable

        each, _, small = self.concrete(case)
        try:
            self._measure(self._described(small=small), [each], small=small)
        except Ungradable as reason:
            return str(reason)
        return ""

    def _measure(self, told: Description, cases: Collection[FormatCase], *, small: bool) -> None:
        from harness.formats.client import Ungradable
        from harness.formats.processes import PROBLEMS

        if "reference: float32" in told.claims:
            raise Ungradable("its reference does not run in float64, to measure by")
        if any(each.own for each in cases):
            raise Ungradable("its own check decides, which has no tolerance to measure")
        for each in cases:
            PROBLEMS.measured(self.source, each, small=small)

    def claims(self, *, emulated: bool) -> tuple[str, ...]:
        """What the format leaves weaker than a package does."""
        from harness.formats.processes import PROBLEMS

        if self.unfit(emulated=emulated):
            return ()
        told = self._described(small=emulated)
        weak = weak_claims(replace(self, weights=()), emulated=emulated)
        known = (each for each in told.claims if not (self.weights and each == _FIXED))
        tolerance = "tolerance: measured" if self.measured else told.tolerance
        timed = sum(each.timed for each in told.cases.values())
        few = (f"times: {MOST_TIMED} of {timed} shapes",) if timed > MOST_TIMED else ()
        shown = PROBLEMS.found_claims(self.source, small=emulated)
        shown = tuple(each for each in shown if each not in told.claims and not self.measured)
        return (*known, *shown, *few, *weak, tolerance)

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
        """Those of the format's entry point; of ``ModelNew``, of ``forward`` and its outputs.

        Then the weights that each call has values of its own for.
        """
        told = self._any_size() or self._described(small=True)
        return (*told.parameters, *(_parameter(each.weight.spec) for each in self.weights))

    def draw_cases(self, seed: str, *, dtype: str, room: CaseLimits) -> list[Case]:  # noqa: ARG002
        """All that the format checks, as far as there is memory for them, cheapest first.

        Raises:
            UsageError: there is memory for none.
        """
        small = room.work is not None
        found = []
        for each in self._described(small=small).cases.values():
            if (best := chosen(each, room.bytes, small=small)) is not None:
                needed, plan = best
                found.append((needed, self._case(each, seed, plan, small=small)))
        if not found:
            assert room.bytes is not None
            raise UsageError(
                f"checking its smallest case takes {bytes_(min(self.footprints(emulated=small)))} "
                f"of memory, and there are {bytes_(room.bytes)}"
            )
        return [case for _, case in sorted(found, key=lambda pair: pair[0])]

    def footprints(self, *, emulated: bool) -> list[int]:
        """Bytes of the device's memory that checking each case takes, at the least.

        On a GPU without those of the reference, which can compute on the processor.
        """
        cases = self._described(small=emulated).cases.values()
        return [
            min(plan.bytes(each.tensors) for plan in plans(each, small=emulated)) for each in cases
        ]

    def footprint(self, case: Case) -> int:
        """Bytes of the device's memory that checking a case takes as its spec says."""
        each, _, small = self.concrete(case)
        plan = LABELLED.get(read(case)["plan"], plans(each, small=small)[0])
        return plan.bytes((*each.tensors, *each.weights))

    def is_streamed(self, case: Case) -> bool:
        """Whether a case's right answers come piece by piece on a machine with a card."""
        return self.concrete(case)[0].streamed

    def within(self, case: Case, room: int) -> Case | None:
        """The case as it goes into so many bytes of the device's memory; None if it does not."""
        if self.footprint(case) <= room:
            return case
        each, _, small = self.concrete(case)
        if small or each.own or read(case)["plan"] is not None:
            return None
        fitted = (labelled(each, case.spec + plan.label) for plan in in_pieces(each))
        return next((less for less in fitted if self.footprint(less) <= room), None)

    def timed_cases(self, *, emulated: bool) -> list[Case]:
        """Those that the format times, few of many; its last, if it times none that it checks."""
        cases = self._described(small=emulated).cases.values()
        timed = [each for each in cases if each.timed] or list(cases)[-1:]
        if len(timed) > MOST_TIMED:  # spread, with the first and the last
            last = len(timed) - 1
            timed = [timed[n * last // (MOST_TIMED - 1)] for n in range(MOST_TIMED)]
        return [
            self._case(each, _OF_THIS_RUN, plans(each, small=emulated)[0], small=emulated)
            for each in timed
        ]

    def timed_families(self, dtype: str) -> tuple[str, ...]:  # noqa: ARG002
        """None: values are the format's."""
        return ()

    def parse_case(self, spec: str) -> Case:
        """The case of a spec: ``inputs=1,weights=7``, and ``,sizes=cpu`` where sizes were cut.

        And ``,calls=1`` where calls are made one at a time; ``,answers=rows`` or ``,answers=host``
        where the card's memory is for one of them alone, and right answers come to it some rows at
        a time, or from the host's memory piece by piece.
        """
        found = taken_apart(spec)
        cases = self._described(small=bool(found and found["small"])).cases
        if found is None or found["key"] not in cases:
            known = ", ".join(list(cases)[:20])
            raise UsageError(f"case: {printable(spec)!r} is none (there are {known})")
        each = cases[found["key"]]
        if bool(each.construct) != (found["seed"] is not None):
            wanted = "the seed of its weights" if each.construct else "no weights"
            raise UsageError(f"case: {found['key']} has {wanted}, as in inputs=1,weights=7")
        if not is_for(each, found["plan"] or ""):
            raise UsageError(f"case: the answers of {found['key']} are not had by rows here")
        return labelled(each, spec)

    def tensors_of(self, case: Case, dtype: str) -> tuple[TensorSpec, ...]:  # noqa: ARG002
        """As the process says."""
        each = self.concrete(case)[0]
        return (*each.tensors, *each.weights)

    def construction(self, case: Case) -> Construction | None:
        """What a submission's module is made with; None where the entry point is no class."""
        each, weights, _ = self.concrete(case)
        if not each.construct and not each.call:
            return None
        own = tuple(weight.own for weight in self.weights)
        return Construction(
            arguments=each.construct,
            seed=weights,
            call=each.call,
            weights=own,
            constants=each.constants,
        )

    def module_weights(self, case: Case) -> Mapping[str, ModuleWeight]:
        """The weights of the reference's module, by name; none where calls can have no others."""
        told = self._described(small=self.concrete(case)[2])
        return {each.spec.name: each for each in told.weights}

    def made_weights(self, case: Case) -> Mapping[str, Tensor]:
        """Their values under the seed that a case's modules are made under."""
        from harness.formats.processes import PROBLEMS

        specs = [each.spec for each in self.module_weights(case).values()]
        _, seed, small = self.concrete(case)
        return PROBLEMS.weights(self.source, specs, small=small, seed=seed, on_host=True)

    def work(self, case: Case, dtype: str) -> CallCost:  # noqa: ARG002
        """Unknown."""
        return CallCost()

    def inputs(self) -> ForeignInputs:
        """What the format's code draws."""
        from harness.formats.sources import ForeignInputs

        return ForeignInputs(self)

    def reference(self) -> ForeignAnswers:
        """What the format's reference returns."""
        from harness.formats.sources import ForeignAnswers

        return ForeignAnswers(self)

    def signed(self, case: Case, seed: str) -> Case | None:
        """The case with inputs of both signs; None where it has such, or its answers none then."""
        signed = replace(case, label=case.spec + SIGNED)
        source, inputs, differs = self.inputs(), {}, False
        for spec in self.tensors_of(case, self.dtypes[0]):
            if spec.direction is not Direction.OUT:
                inputs[spec.name] = source.draw(spec, signed, f"{seed}/0")
                differs |= not inputs[spec.name].equal(source.draw(spec, case, f"{seed}/0"))
        if not differs:
            return None
        right = self.reference().expectations(signed, self.dtypes[0], inputs)
        parts = (part for each in right.values() for part in each.stretches())
        return signed if all(bool(part.expected.isfinite().all()) for part in parts) else None

    def concrete(self, case: Case) -> tuple[FormatCase, int, bool]:
        """What the process said of a case, the seed of its weights, and whether sizes are cut."""
        found = read(case)
        small = found["small"] is not None
        each = self._described(small=small).cases[found["key"]]
        own = tuple(weight.weight.spec for weight in self.weights)
        concrete = replace(planned(each, found["plan"] or ""), weights=own)
        return concrete, int(found["seed"] or 0), small

    def _case(self, each: FormatCase, seed: str, plan: Plan, *, small: bool) -> Case:
        label = each.key
        if each.construct:
            digest = sha256(f"weights|{seed}|{self.hash}|{each.key}".encode()).digest()
            label += f",weights={int.from_bytes(digest[:4], 'big')}"
        label += SMALL if small else ""
        return labelled(each, label + plan.label)

    def _any_size(self) -> Description | None:
        """The cases as they are asked for here; None if they cannot be had.

        With a card those for an emulator, too, if others do not go: that takes seconds. What is not
        small enough for one without a card would take minutes there, and is not graded anyway.
        """
        from harness.formats.processes import PROBLEMS

        sizes = (False, True) if PROBLEMS.has_card else (True,)
        plain = replace(self, measured=False)  # what is measured costs, and changes none of them
        small = next((s for s in sizes if not plain.unfit(emulated=s)), None)
        return None if small is None else self._described(small=small)

    def _described(self, *, small: bool) -> Description:
        from harness.formats.client import Ungradable
        from harness.formats.processes import PROBLEMS

        try:
            if self.source.lack:
                raise Ungradable(self.source.lack)
            return PROBLEMS.described(self.source, small=small)
        except Ungradable as reason:
            about = Diagnostic(self.source.path, 1, "", f"cannot be graded here: {reason}")
            raise ProblemError([about]) from None


def _parameter(spec: TensorSpec) -> FormalParameter:
    ctype = next(ctype for ctype, dtype in C_TYPES.items() if dtype == spec.dtype)
    return FormalParameter(name=spec.name, type=ctype, role=Role.TENSOR, direction=spec.direction)
