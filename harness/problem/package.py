"""A problem package as the judge asks for it; imports torch only where it is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.problem.case import (
    CaseLimits,
    parse_case,
    tensors_of,
    timed_families,
    whole_case,
)
from harness.problem.model import Declaration
from harness.problem.terms import CallCost, TensorSpec

if TYPE_CHECKING:
    from harness.problem.case import Case
    from harness.problem.reference import Reference
    from harness.problem.sampling.inputs import DeclaredInputs


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem(Declaration):
    """One judged task; the package's :class:`~harness.problem.gradable.Gradable`."""

    @property
    def declared(self) -> Declaration:
        """Itself."""
        return self

    @property
    def format(self) -> str:
        """None of others."""
        return ""

    @property
    def entry(self) -> str:
        """Any."""
        return ""

    @property
    def named(self) -> str:
        """Its slug."""
        return self.slug

    def unfit(self, *, emulated: bool) -> str:  # noqa: ARG002 (the Protocol's)
        """Nothing: what it lacks is told when it is loaded."""
        return ""

    def claims(self, *, emulated: bool) -> tuple[str, ...]:  # noqa: ARG002 (the Protocol's)
        """None: this is what claims are measured by."""
        return ()

    def construction(self, case: Case) -> None:  # noqa: ARG002 (the Protocol's)
        """None: constructors ask for sizes and scalars by name."""
        return

    def tensors_of(self, case: Case, dtype: str) -> tuple[TensorSpec, ...]:
        """The tensors of one call, in order."""
        return tensors_of(self, case, dtype)

    def draw_cases(self, seed: str, *, dtype: str, room: CaseLimits) -> list[Case]:
        """The correctness cases of one grade, those that cover sizes of benchmarks at the end."""
        from harness.problem.sampling.cases import draw_cases
        from harness.problem.sampling.coverage import coverage_cases

        cases = draw_cases(self, seed, dtype=dtype, room=room)
        covering = coverage_cases(self, seed, dtype=dtype, room=room)
        return list({case.spec: case for case in (*cases, *covering)}.values())

    def timed_cases(self, *, emulated: bool) -> list[Case]:
        """``benchmarks``, or ``cpu_benchmarks`` where kernels are emulated."""
        shapes = self.cpu_benchmarks if emulated else self.benchmarks
        return [whole_case(self, shape) for shape in shapes]

    def timed_families(self, dtype: str) -> tuple[str, ...]:
        """``benchmark_values``, or all families that are safe."""
        return timed_families(self, dtype)

    def parse_case(self, spec: str) -> Case:
        """The case of a spec."""
        return parse_case(self, spec)

    def work(self, case: Case, dtype: str) -> CallCost:
        """``flops`` and ``bytes`` of one call."""
        cut = self.tolerance.inputs if self.tolerance else {}
        return CallCost(
            flops=self.evaluate(self.flops, case.values, dtype) if self.flops else None,
            bytes=self.evaluate(self.bytes, case.values, dtype) if self.bytes else None,
            tf32=cut.get(dtype) == "tf32",
        )

    def inputs(self) -> DeclaredInputs:
        """Tensors by the declared distributions."""
        from harness.problem.sampling.inputs import DeclaredInputs

        return DeclaredInputs(self)

    def reference(self) -> Reference:
        """The package's ``reference.py``, loaded, with the error model."""
        from harness.problem.reference import Reference

        return Reference(self)
