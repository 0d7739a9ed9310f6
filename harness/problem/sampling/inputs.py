"""The contents of a package's tensors, as declared: drawn from the seed, the case and the name.

Those that the author's ``draw`` makes follow from the seed and the case.
"""

from dataclasses import replace

import torch
from torch import Tensor

from harness.errors import Diagnostic, ProblemError
from harness.problem.case import DECLARED, Case
from harness.problem.dtypes import DTYPES, DtypeKind
from harness.problem.expressions import ExpressionError
from harness.problem.model import STATEMENT_FILE, Declaration, Parameter
from harness.problem.sampling.distributions import fill
from harness.problem.sampling.drawn import AuthorsTensors, call_bits, key_bits
from harness.problem.sums import steepest_drawn
from harness.problem.terms import TensorSpec


class DeclaredInputs:
    """Values by each tensor's distribution and the case's family: a package's ``InputSource``."""

    def __init__(self, problem: Declaration) -> None:
        self._problem = problem
        self._parameters = {p.name: p for p in problem.tensors}
        self._authors = AuthorsTensors(problem)
        self._known: dict[tuple[TensorSpec, str], tuple[Parameter, float]] = {}
        """By tensor and case, what :meth:`_drawn` says: a batch is filled again and again."""

    def draw(self, tensor: TensorSpec, case: Case, seed: str) -> Tensor:
        """One tensor of one call, contiguous, on the CPU: the same on every machine.

        torch keeps 32 of the derived seed's bits; recovering them from the values tells this
        tensor and no other, since each is derived from the secret with SHA-256.
        """
        if tensor.together:
            return self._authors.tensor(tensor, case, call_bits(self._problem.slug, case, seed))
        spec = case.spec
        key = f"tensor|{seed}|{self._problem.slug}|{spec}|{tensor.name}"
        generator = torch.Generator(device="cpu").manual_seed(key_bits(key))
        out = torch.empty(tensor.shape, dtype=getattr(torch, tensor.dtype))
        parameter, steepest = self._drawn(tensor, case, spec)
        fill(out, parameter, generator=generator, family=case.family, steepest=steepest)
        return out

    def write(self, out: Tensor, tensor: TensorSpec, case: Case, seed: str) -> None:
        """Write what :meth:`draw` returns to ``out``."""
        out.copy_(self.draw(tensor, case, seed))

    def fill(
        self, out: Tensor, tensor: TensorSpec, case: Case, seed: str, *, warm_up: bool
    ) -> None:
        """Fill ``out`` (calls, ...) on its own device: in a tenth of the time of the CPU.

        A ``warm_up`` takes the declared distribution: families whose shape has a meaning are
        drawn call by call.
        """
        spec = case.spec
        generator = torch.Generator(device=out.device)
        generator.manual_seed(key_bits(f"{seed}/{spec}/{tensor.name}"))
        family = DECLARED if warm_up else case.family
        parameter, steepest = self._drawn(tensor, case, spec)
        for part in (out,) if family == DECLARED else out:
            fill(part, parameter, generator=generator, family=family, steepest=steepest)

    def _drawn(self, tensor: TensorSpec, case: Case, spec: str) -> tuple[Parameter, float]:
        """The parameter with the bounds of this case, and how many deviations its mean may be."""
        if (known := self._known.get((tensor, spec))) is not None:
            return known
        parameter = self._parameters[tensor.name]
        exact = DTYPES[tensor.dtype].kind is DtypeKind.INTEGER
        try:
            values = parameter.values.at(case.values, whole=exact)
            steepest = steepest_drawn(self._problem, case, parameter, tensor.dtype)
        except ExpressionError as error:
            path, message = self._problem.folder / STATEMENT_FILE, f"{error}, for {spec}"
            raise ProblemError([Diagnostic(path, parameter.line, tensor.name, message)]) from None
        found = self._known[tensor, spec] = replace(parameter, values=values), steepest
        return found

    def drawn_again(self, case: Case, seed: str) -> dict[str, Tensor]:
        """What the author's ``draw`` makes for a call, wide and drawn now, whatever is known."""
        return self._authors.draw(case, call_bits(self._problem.slug, case, seed)).tensors
