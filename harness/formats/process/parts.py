"""GPU MODE's tasks with several entry points: ``generate_inputs``, and ``reference_<part>`` each.

One call is all parts, one after the other, as their time counts there. A submission's functions get
the tensors that the reference's of the same part take, by position, and may write to all of them,
since they are copies. Answers are compared by ``torch.allclose``, with the task's bounds.
"""

import inspect
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from harness.formats.process.adaptor import (
    MistakeError,
    Tensors,
    UngradableError,
    told,
)
from harness.formats.process.checks import Rule
from harness.formats.process.nested import flattened
from harness.formats.process.task import Task
from harness.formats.process.trial import Values

_MOST_SEED = 2**31 - 1


class Parts(Task):
    """One task."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._references = {part: f"reference_{part}" for part, _ in self._task["parts"]}
        self.needs("generate_inputs", *self._references.values())
        self._rule = Rule(rtol=self._bound("RTOL"), atol=self._bound("ATOL"))
        self._takes = {part: _taken(self._function(part)) for part in self._references}
        self._names = max(self._takes.values(), key=len)
        """Of all inputs: some part takes each."""
        if not all(set(self._names).issuperset(taken) for taken in self._takes.values()):
            raise UngradableError("no part of its reference names all inputs")
        seeded = "seed" in inspect.signature(self._module.generate_inputs).parameters
        self._most_seed = _MOST_SEED if seeded else None
        self._tensors: list[str] = []
        self._counts: dict[str, int] = {}

    def drawn(self, key: str, seed: int, factor: int) -> dict[str, Any]:
        """What ``generate_inputs`` returns, by the names that the reference has for it."""
        made = self.made("generate_inputs", key, seed, factor, self._most_seed)
        if not isinstance(made, tuple | list) or len(made) != len(self._names):
            names = ", ".join(self._names)
            raise UngradableError(f"generate_inputs does not return {names}, which its parts take")
        values = dict(zip(self._names, made, strict=True))
        self._tensors = [name for name, x in values.items() if isinstance(x, Tensor)]
        for name in self._tensors:
            told(name, values[name])  # says which type is not graded
        return values

    def evaluated(self, key: str, values: Values) -> dict[str, Tensor]:
        """What the parts return, one after the other."""
        found: dict[str, Tensor] = {}
        for part, name in self._references.items():
            returned = self._function(part)(*(values[each] for each in self._takes[part]))
            _, outputs = flattened(returned, f"output_{part}")
            if not outputs:
                raise MistakeError(f"{name} returns no tensor")
            if not outputs.keys().isdisjoint((*values, *found)):
                raise UngradableError("its inputs and outputs have the same names")
            self._counts[part] = len(outputs)
            found |= {each: x.detach() for each, x in outputs.items()}
        return found

    def rule(self, key: str, values: Values, right: Tensors) -> Rule | None:
        """The task's bounds."""
        return self._rule

    def loose(self, key: str) -> Sequence[str]:
        """All that is given: it is the submission's own."""
        return self._tensors

    def details(self, key: str, values: Values) -> dict[str, Any]:
        """What each function is called with, and how many tensors it returns."""
        calls = [
            ([{"argument": name} for name in taken], self._counts[part])
            for part, taken in self._takes.items()
        ]
        return {"call": json.dumps(calls)}

    def _function(self, part: str) -> Any:
        return getattr(self._module, self._references[part])

    def _bound(self, name: str) -> float:
        bound = getattr(self._module, name, None)
        if not isinstance(bound, int | float) or not 0 <= bound < math.inf:
            raise UngradableError(f"its reference has no {name}")
        return float(bound)


def _taken(function: Any) -> list[str]:
    """The names of what a function takes; all of them by position."""
    parameters = inspect.signature(function).parameters.values()
    if not all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters):
        raise UngradableError(f"{function.__name__} takes more than inputs by their names")
    return [p.name for p in parameters]
