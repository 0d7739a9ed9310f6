"""Run a package's ``reference.py``: right answers, and the magnitude of what was summed.

The file is the problem author's, and trusted: it runs inside the judge. It defines

- ``reference(*parameters but the pure outputs)`` → the expected outputs,
- ``magnitude(…the same…)`` → for each output what was summed, in magnitude (|A|·|B| for A·B).

Both get dense tensors in float64 (integers in int64, complex numbers in complex128), on whatever
device they were given, and scalars exactly as the submission receives them. With one output they
return its tensor; with several a mapping from name to tensor. A magnitude is always real.
"""

import inspect
import traceback
from collections.abc import Callable, Iterable, Mapping
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from harness.errors import Diagnostic, ProblemError
from harness.problem.case import Case
from harness.problem.dtypes import DtypeKind
from harness.problem.format.load import REFERENCE_FILE
from harness.problem.gradable import Expectation
from harness.problem.model import Direction, Parameter, Problem
from harness.problem.tolerance import expectations
from harness.text.suggest import did_you_mean

EXPECTED_FUNCTION = "reference"
MAGNITUDE_FUNCTION = "magnitude"


def upcast(tensor: Tensor) -> Tensor:
    """``tensor`` in the widest type of its kind; always a dense copy, so that it may be written to.

    Dense also where the tensor has gaps: a reference knows nothing of strides.
    """
    wide = torch.int64
    if tensor.is_complex():
        wide = torch.complex128
    elif tensor.is_floating_point():
        wide = torch.float64
    return tensor.to(wide, copy=True, memory_format=torch.contiguous_format)


class Reference:
    """The two functions of one package, and the error model over them.

    Meets :class:`~harness.problem.gradable.AnswerKey`.

    Raises:
        ProblemError: on making one, and from its methods, when the file is wrong. The diagnostic
            names file, line and function.
    """

    capturable = True
    """In a CUDA graph: one that waits for the device fails to be captured, which is noticed."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.path = problem.folder / REFERENCE_FILE
        module = self._load()
        names = (EXPECTED_FUNCTION, MAGNITUDE_FUNCTION)
        self._functions = {name: self._function(module, name) for name in names}

    def expectations(
        self, case: Case, dtype: str, inputs: Mapping[str, Tensor], *, summed: bool = True
    ) -> dict[str, Expectation]:
        """Expected outputs and allowed errors, by the error model (:mod:`~.tolerance`)."""
        return expectations(self, self.problem, case, dtype, inputs, summed=summed)

    def expected(
        self, problem: Problem, case: Case, tensors: Mapping[str, Tensor]
    ) -> dict[str, Tensor]:
        """The right outputs of ``case``, by name, in float64 (int64, complex128).

        ``tensors`` holds every input (and inout) tensor by name, in the submission's data type, as
        it is before the call. They are not written to. Where they hold NaN or infinity, so may the
        outputs.
        """
        return self._call(EXPECTED_FUNCTION, problem, case, _widened(problem, tensors))

    def magnitude(
        self, problem: Problem, case: Case, tensors: Mapping[str, Tensor]
    ) -> dict[str, Tensor]:
        """The magnitude of what was summed for each element of each output; arguments as above."""
        return self._call(MAGNITUDE_FUNCTION, problem, case, _widened(problem, tensors))

    def expected_and_magnitude(
        self, problem: Problem, case: Case, tensors: Mapping[str, Tensor]
    ) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Both of the above, from one wide copy of the inputs unless the first has altered it."""
        wide = _widened(problem, tensors)
        # The second function must see the inputs as they were: written to, or returned as an
        # output that may be written to later, they are made again.
        untouched = _versions(wide)
        expected = self._call(EXPECTED_FUNCTION, problem, case, wide)
        if _versions(wide) != untouched or _share(wide.values(), expected.values()):
            wide = _widened(problem, tensors)
        return expected, self._call(MAGNITUDE_FUNCTION, problem, case, wide)

    def _load(self) -> ModuleType:
        if not self.path.is_file():
            raise self._wrong(1, "", "there is no such file")
        loader = SourceFileLoader("problem_reference", str(self.path.absolute()))
        spec = ModuleSpec(loader.name, loader, origin=loader.path)
        spec.has_location = True
        module = module_from_spec(spec)
        try:
            loader.exec_module(module)
        except Exception as error:  # the author's code: anything can come
            raise self._raised("", error) from error
        return module

    def _function(self, module: ModuleType, name: str) -> Callable[..., Any]:
        """The function ``name``, checked to take just the arguments it will be given."""
        function = getattr(module, name, None)
        if not callable(function):
            others = {n for n, value in vars(module).items() if inspect.isfunction(value)}
            hint = did_you_mean(name, sorted(others - {EXPECTED_FUNCTION, MAGNITUDE_FUNCTION}))
            raise self._wrong(1, name, f"the file defines no such function{hint}")
        wanted = [p.name for p in self.problem.parameters if p.direction is not Direction.OUT]
        line = getattr(getattr(function, "__code__", None), "co_firstlineno", 1)
        try:
            inspect.signature(function).bind(**dict.fromkeys(wanted))
        except TypeError as error:
            message = f"cannot be called with {', '.join(wanted)}: {error}"
            raise self._wrong(line, name, message) from None
        return function  # type: ignore[no-any-return]

    def _call(
        self,
        name: str,
        problem: Problem,
        case: Case,
        wide: Mapping[str, Tensor],
    ) -> dict[str, Tensor]:
        try:
            with torch.no_grad():
                returned = self._functions[name](**case.values, **wide)
        except torch.OutOfMemoryError:
            raise  # the machine's fault, not the author's
        except Exception as error:  # the author's code: anything can come
            raise self._raised(name, error) from error
        return self._checked(name, problem, case, returned)

    def _checked(
        self, name: str, problem: Problem, case: Case, returned: object
    ) -> dict[str, Tensor]:
        """Check what the function returned; by output.

        Raises:
            ProblemError: an output is missing, or has a wrong shape or type.
        """
        outputs = problem.outputs
        if isinstance(returned, Tensor) and len(outputs) == 1:
            returned = {outputs[0].name: returned}
        if not isinstance(returned, Mapping) or set(returned) != {p.name for p in outputs}:
            names = ", ".join(p.name for p in outputs)
            raise self._wrong(1, name, f"must return a tensor for each of {names}")
        for parameter in outputs:
            value = returned[parameter.name]
            if not isinstance(value, Tensor):
                what = type(value).__name__
                raise self._wrong(1, name, f"{parameter.name}: a {what} is no tensor")
            shape = parameter.dimensions(case.values)
            if tuple(value.shape) != shape:
                found = tuple(value.shape)
                message = f"{parameter.name} has shape {found}, not {shape}, for {case.spec}"
                raise self._wrong(1, name, message)
            if value.is_complex() and name == MAGNITUDE_FUNCTION:
                raise self._wrong(1, name, f"{parameter.name} is complex: a magnitude is real")
            if value.dtype not in (torch.float64, torch.int64, torch.complex128, torch.bool):
                what = str(value.dtype).removeprefix("torch.")
                raise self._wrong(1, name, f"{parameter.name} was computed in {what}, not float64")
        return {p.name: returned[p.name] for p in outputs}

    def fitting(self, parameter: Parameter, dtype: str, expected: Tensor) -> Tensor:
        """``expected`` in the widest type of the kind that the output has with this data type.

        Raises:
            ProblemError: a complex number is expected of a real output, or a fraction of an
                integer.
        """
        kind = parameter.data_type(dtype).kind
        found = str(expected.dtype).removeprefix("torch.")
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
        raise self._wrong(1, EXPECTED_FUNCTION, message)

    def _wrong(self, line: int, function: str, message: str) -> ProblemError:
        return ProblemError([Diagnostic(self.path, line, function, message)])

    def _raised(self, function: str, error: Exception) -> ProblemError:
        """An exception from the file, with the line of the file it came through last."""
        frames = traceback.extract_tb(error.__traceback__)
        here = self.path.absolute()  # as Python names the file of a module
        lines = [f.lineno for f in frames if Path(f.filename) == here and f.lineno]
        if isinstance(error, SyntaxError) and error.lineno:
            lines.append(error.lineno)
        return self._wrong(lines[-1] if lines else 1, function, f"{type(error).__name__}: {error}")


def _widened(problem: Problem, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Dense wide copies of all tensors that are read: arguments of both functions."""
    given = [p.name for p in problem.tensors if p.direction is not Direction.OUT]
    return {name: upcast(tensors[name]) for name in given}


def _versions(tensors: Mapping[str, Tensor]) -> list[int]:
    """Numbers that grow whenever a tensor is written to."""
    return [tensor._version for tensor in tensors.values()]


def _share(some: Iterable[Tensor], others: Iterable[Tensor]) -> bool:
    """Whether some of these lie in the memory of others."""
    places = [{each.untyped_storage().data_ptr() for each in group} for group in (some, others)]
    return not places[0].isdisjoint(places[1])
