"""Several functions that are one call: one after the other, and the outputs of all together."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from harness.runner.entry.construction import decoded
from harness.runner.entry.outputs import Arguments, Outputs, described, in_order
from harness.runner.entry.returning import Bound, Entry, Returning
from harness.runner.program import ProgramFailed
from harness.wire.arguments import AND, Construct, Parameters
from harness.wire.messages import FaultCode

_Each = tuple[str, Entry, list[Any], int]
"""A function by its name, its arguments, and how many outputs it returns."""


class Several(Returning):
    """Functions by their names, in the order in which they are called.

    Each gets what the format says of the same tensors, so what one has written there the next sees.
    """

    def __init__(self, functions: Mapping[str, Entry], parameters: Parameters) -> None:
        super().__init__(_called, parameters)
        self._functions = functions

    def _bound(self, calls: Sequence[Arguments]) -> list[Bound]:
        assert self._construct is not None
        return [self._bound_as_said(arguments, self._construct) for arguments in calls]

    def _bound_as_said(self, arguments: Arguments, construct: Construct) -> Bound:
        values = {name: x for (name, _), x in zip(self._parameters, arguments, strict=True)}
        written = [(name, kind) for name, kind in self._parameters if kind == "out"]
        said = zip(self._functions.items(), json.loads(construct.call), strict=True)
        each = [(name, f, decoded(given, values), count) for (name, f), (given, count) in said]
        outputs = Outputs(
            AND.join(self._functions),
            tuple(written),
            tuple(values[name] for name, _ in written),
            nested=True,
        )
        return partial(_called, each), outputs


def _called(functions: Sequence[_Each]) -> list[object]:
    """What all return, in one list: nobody returns another's outputs."""
    found: list[object] = []
    for name, function, arguments, count in functions:
        returned = in_order(function(*arguments))
        values = returned if isinstance(returned, list) else [returned]
        if len(values) != count:
            wanted = "1 tensor" if count == 1 else f"{count} tensors"
            what = f"{name} returned {described(returned)}, expected {wanted}"
            raise ProgramFailed(FaultCode.EXCEPTION, what)
        found += values
    return found
