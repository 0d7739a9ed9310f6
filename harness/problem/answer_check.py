"""The author's ``check``: which elements of an answer are right, where several answers are.

It runs in the judge, like ``reference``, on the device of the tensors, and gets copies of all it
sees. What a submission wrote is among them: any bits at all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from harness.errors import ProblemError
from harness.problem.authors_file import AuthorsFile, Function, type_name, upcast
from harness.problem.case import Case
from harness.problem.model import CHECK

GIVEN = ("got", "expected")
"""Its arguments that are no parameters."""


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """The check of one call.

    Raises:
        ProblemError: from its methods; it raises an exception even for the right answer, or
            returns something else than it must.
    """

    file: AuthorsFile
    function: Function
    names: Sequence[str]
    """The arguments that it takes."""
    case: Case
    inputs: Mapping[str, Tensor]
    """What the call read, as it was before."""
    expected: Mapping[str, Tensor]
    """The reference's answer, wide, by output."""

    def __call__(self, outputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Which elements of the outputs it judges are right: bool, of the output's shape, by name.

        ``outputs`` are in their own types. Where the function raises an exception for them, and
        none for the reference's answer, it judges none: only what is expected is right then.
        """
        try:
            return self.strictly(outputs)
        except ProblemError:
            self.strictly(self.expected)
            return {}

    def strictly(self, outputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The same; an exception of the function is a ProblemError for any outputs."""
        returned = self.file.call(CHECK, self.function, self._arguments(outputs))
        if isinstance(returned, Tensor) and len(outputs) == 1:
            returned = dict.fromkeys(outputs, returned)
        if not isinstance(returned, Mapping) or not returned.keys() <= outputs.keys():
            names = ", ".join(outputs)
            raise self.file.wrong(CHECK, f"must return tensors for outputs, of {names}")
        return {name: self._right(name, x, outputs[name]) for name, x in returned.items()}

    def _arguments(self, outputs: Mapping[str, Tensor]) -> dict[str, object]:
        made: dict[str, object] = {}
        for name in self.names:
            if name in self.inputs:
                made[name] = upcast(self.inputs[name])
            elif name in GIVEN:
                given = outputs if name == GIVEN[0] else self.expected
                made[name] = {each: upcast(x) for each, x in given.items()}
            else:
                made[name] = self.case.values[name]
        return made

    def _right(self, name: str, returned: object, got: Tensor) -> Tensor:
        """What it returned for one output, in the output's shape.

        NaN is never right where the reference's answer has none: comparisons with it are false,
        and it would pass a check that looks for what is wrong.
        """
        wrong = ""
        if not isinstance(returned, Tensor):
            wrong = f"a {type(returned).__name__} is no tensor"
        elif returned.dtype is not torch.bool:
            wrong = f"must say true or false, not {type_name(returned)}"
        elif returned.device != got.device:
            wrong = f"is on {returned.device}, and the output on {got.device}"
        elif not _fits(returned.shape, got.shape):
            wrong = f"has shape {tuple(returned.shape)}, which does not go with {tuple(got.shape)}"
        if wrong or not isinstance(returned, Tensor):
            raise self.file.wrong(CHECK, f"{name}: {wrong}, for {self.case.spec}")
        right = returned.expand(got.shape)
        if got.is_floating_point() or got.is_complex():
            right = right & (got.isnan().logical_not() | self.expected[name].isnan().any())
        return right


def _fits(shape: Sequence[int], whole: Sequence[int]) -> bool:
    """Whether a tensor of this ``shape`` can be repeated to the ``whole`` one."""
    if len(shape) > len(whole):
        return False
    last = whole[len(whole) - len(shape) :]
    return all(n in (1, m) for n, m in zip(shape, last, strict=True))
