"""Run a package's ``reference.py``: right answers, and the magnitude of what was summed.

The file is the problem author's, and trusted: it runs inside the judge. It defines

- ``reference(*sizes and parameters but the pure outputs)`` → the expected outputs,
- ``magnitude(…the same…)`` → for each output what was summed, in magnitude (|A|·|B| for A·B),
- ``check(got, expected, …of the same…)``, where there are several right answers
  (:mod:`harness.problem.answer_check`),
- ``draw``, which is called elsewhere (:mod:`harness.problem.sampling.drawn`).

The first two get dense tensors in float64 (integers in int64, complex numbers in complex128) on the
device of the inputs, and scalars exactly as the submission receives them. With one output they
return its tensor; with several a mapping from name to tensor. A magnitude is always real.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from harness.problem.answer_check import GIVEN, AnswerCheck
from harness.problem.authors_file import AuthorsFile, type_name, upcast
from harness.problem.case import NONFINITE, Case
from harness.problem.dtypes import DtypeKind
from harness.problem.model import CHECK, DRAW, REFERENCE_FILE, Declaration, Parameter, inexact_types
from harness.problem.terms import Direction, Expectation
from harness.problem.tolerance import Modelled, weights_of

EXPECTED_FUNCTION = "reference"
MAGNITUDE_FUNCTION = "magnitude"
_RETURNS = {
    EXPECTED_FUNCTION: "the right output, or of several a dictionary",
    MAGNITUDE_FUNCTION: "the same sums of absolute values, such as abs(a) @ abs(b) for a @ b",
}


class Reference:
    """The two functions of one package with the error model: the package's ``AnswerKey``.

    Raises:
        ProblemError: also from its methods; the diagnostic names file, line and function.
    """

    capturable = True
    """In a CUDA graph: one that waits for the device fails to be captured, which is noticed."""

    def __init__(self, problem: Declaration) -> None:
        self.problem = problem
        self._file = AuthorsFile(problem.folder / REFERENCE_FILE)
        numbers = [p.name for p in problem.numbers]
        read = [p.name for p in problem.tensors if p.direction is not Direction.OUT]
        given = [*numbers, *read]
        names = [EXPECTED_FUNCTION]
        if _weighs_sums(problem) or self._file.optional(MAGNITUDE_FUNCTION, given) is not None:
            names.append(MAGNITUDE_FUNCTION)
        self._functions = {name: self._file.needed(name, given, _RETURNS) for name in names}
        self._check = self._file.optional(CHECK, (*GIVEN, *given))
        self._file.optional(DRAW, ("generator", "family", *numbers))

    @property
    def has_magnitude(self) -> bool:
        """Whether the file defines it: it need not where nothing that is summed counts."""
        return MAGNITUDE_FUNCTION in self._functions

    def expectations(
        self, case: Case, dtype: str, inputs: Mapping[str, Tensor], *, summed: bool = True
    ) -> dict[str, Expectation]:
        """Expected outputs and errors allowed by :mod:`~.tolerance`, of every output by name.

        Without ``summed`` the magnitude is left out, and what it allows: that halves the work.
        """
        outputs = self.problem.outputs
        weights = {p.name: weights_of(self.problem, case, p, dtype) for p in outputs}
        magnitude: dict[str, Tensor] = {}
        # Exact outputs, and tolerances without a constant, have no use for the magnitude.
        weighed = any(weight and weight.magnitude for weight in weights.values())
        if not (summed and weighed and self.has_magnitude):
            expected = self.expected(case, inputs)
        elif case.family != NONFINITE:
            # One wide copy of the inputs serves both functions.
            expected, magnitude = self.expected_and_magnitude(case, inputs)
        else:
            expected = self.expected(case, inputs)
            magnitude = self.magnitude(case, {name: _finite(x) for name, x in inputs.items()})
        rights: dict[str, Tensor] = {}
        made: dict[str, Expectation] = {}
        check = self._check and AnswerCheck(self._file, *self._check, case, inputs, rights)
        for p in outputs:
            # Taken out of the mappings, so that each wide tensor goes with what is made of it.
            right = self.fitting(p, dtype, expected.pop(p.name))
            rights[p.name] = right
            made[p.name] = Modelled(right, weights[p.name], magnitude.pop(p.name, None), check)
        return made

    def expected(self, case: Case, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The right outputs of ``case``, by name, in float64 (int64, complex128).

        ``tensors`` holds every input (and inout) tensor by name, in the submission's data type, as
        it is before the call. They are not written to.
        """
        return self._call(EXPECTED_FUNCTION, case, self._widened(tensors))

    def magnitude(self, case: Case, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The magnitude of what was summed for each element of each output; arguments as above."""
        return self._call(MAGNITUDE_FUNCTION, case, self._widened(tensors))

    def expected_and_magnitude(
        self, case: Case, tensors: Mapping[str, Tensor]
    ) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Both of the above, from one wide copy of the inputs unless the first has altered it."""
        wide = self._widened(tensors)
        # The second function must see the inputs as they were: written to, or returned as an
        # output that may be written to later, they are made again.
        untouched = _versions(wide)
        expected = self._call(EXPECTED_FUNCTION, case, wide)
        if _versions(wide) != untouched or not _storages(wide).isdisjoint(_storages(expected)):
            wide = self._widened(tensors)
        return expected, self._call(MAGNITUDE_FUNCTION, case, wide)

    def _widened(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Dense wide copies of all tensors that are read: arguments of both functions."""
        read = (p.name for p in self.problem.tensors if p.direction is not Direction.OUT)
        return {name: upcast(tensors[name]) for name in read}

    def _call(self, name: str, case: Case, wide: Mapping[str, Tensor]) -> dict[str, Tensor]:
        arguments = {**case.values, **wide}
        returned = self._file.call(name, self._functions[name], arguments)
        return self._checked(name, case, returned)

    def _checked(self, name: str, case: Case, returned: object) -> dict[str, Tensor]:
        """What the function returned, by output, with shapes and types checked."""
        outputs = self.problem.outputs
        if isinstance(returned, Tensor) and len(outputs) == 1:
            returned = {outputs[0].name: returned}
        if not isinstance(returned, Mapping) or set(returned) != {p.name for p in outputs}:
            names = ", ".join(p.name for p in outputs)
            raise self._file.wrong(name, f"must return a tensor for each of {names}")
        for p in outputs:
            value, shape, wrong = returned[p.name], p.dimensions(case.values), ""
            if not isinstance(value, Tensor):
                wrong = f"{p.name}: a {type(value).__name__} is no tensor"
            elif tuple(value.shape) != shape:
                wrong = f"{p.name} has shape {tuple(value.shape)}, not {shape}, for {case.spec}"
            elif value.is_complex() and name == MAGNITUDE_FUNCTION:
                wrong = f"{p.name} is complex: a magnitude is real"
            elif value.dtype not in (torch.float64, torch.int64, torch.complex128, torch.bool):
                wrong = f"{p.name} was computed in {type_name(value)}, not float64"
            if wrong:
                raise self._file.wrong(name, wrong)
        return {p.name: returned[p.name] for p in outputs}

    def fitting(self, parameter: Parameter, dtype: str, expected: Tensor) -> Tensor:
        """``expected`` in the widest type of the kind that the output has with this data type.

        Complex numbers do not fit a real output, nor fractions an integer.
        """
        kind = parameter.data_type(dtype).kind
        found = type_name(expected)
        if kind is DtypeKind.COMPLEX:
            return expected.to(torch.complex128)
        if not expected.is_complex():
            if kind is DtypeKind.FLOAT:
                return expected.to(torch.float64)
            if not expected.is_floating_point():
                return expected
            if bool((expected == expected.round()).all()):  # NaN is not equal to itself
                return expected.to(torch.int64)
            found = "fractions"
        message = f"{parameter.name} was computed in {found}, and the output is {kind}"
        raise self._file.wrong(EXPECTED_FUNCTION, message)


def _weighs_sums(problem: Declaration) -> bool:
    """Whether some output is not exact, and may be off in proportion to what was summed."""
    declared = problem.tolerance
    inexact = bool(inexact_types(problem.parameters, problem.dtypes))
    return inexact and (declared is None or declared.weighs_sums)


def _finite(tensor: Tensor) -> Tensor:
    """``tensor`` with 0 for NaN and infinities.

    Where these reach, no allowance is needed; where they do not (0 · C of a C that is no input
    then), they must not make it NaN.
    """
    if tensor.is_complex():
        return torch.where(torch.view_as_real(tensor).isfinite().all(-1), tensor, 0)
    if tensor.is_floating_point():
        return tensor.nan_to_num(nan=0.0, posinf=0.0, neginf=0.0)
    return tensor


def _versions(tensors: Mapping[str, Tensor]) -> list[int]:
    """Numbers that grow whenever a tensor is written to."""
    return [tensor._version for tensor in tensors.values()]


def _storages(tensors: Mapping[str, Tensor]) -> set[int]:
    return {tensor.untyped_storage().data_ptr() for tensor in tensors.values()}
