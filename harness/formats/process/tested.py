"""What formats with separate tests have in common, and what is told of their tests.

A format's part draws a test's arguments, computes what is right, and has its own check.
"""

from abc import ABC
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from harness.author.source import no_memory
from harness.formats.messages import CasesDescribed, ToldCase, ToldParameter
from harness.formats.process.adaptor import (
    Adaptor,
    MistakeError,
    Tensors,
    UngradableError,
    c_name,
    same,
    told,
)
from harness.formats.process.place import PLACE, Moved
from harness.formats.process.trial import Trial, Value, Values, copied
from harness.formats.process.trying import Trying
from harness.formats.rounding import ROUGHER
from harness.runner.entry.construction import seed_all


class Tested(Trying, Adaptor, ABC):
    """Base of adaptors of formats with tests. What their code raises comes through."""

    def __init__(self) -> None:
        super().__init__()
        self._described: dict[bool, CasesDescribed] = {}

    # -- what a format brings --------------------------------------------------------------------

    def ctype(self, name: str, value: Value) -> str:
        """The C type of an element or number."""
        if isinstance(value, Tensor):
            return c_name(value.dtype)
        if isinstance(value, bool):
            return "bool"
        return "int64_t" if isinstance(value, int) else "double"

    def order(self, key: str, values: Values, right: Tensors) -> Sequence[str]:
        """All parameters, in the order of the call."""
        return [*values, *right]

    def details(self, key: str, values: Values) -> dict[str, Any]:
        """Further fields of the test's case."""
        return {}

    def alike(self, parameters: Sequence[ToldParameter]) -> Sequence[object]:
        """What of parameters must be the same in all cases; others are left out."""
        return parameters

    def is_timed(self, key: str) -> bool:
        """Whether the format times it."""
        return False

    def is_zeroed(self, name: str) -> bool:
        """Whether an output is 0 before the call."""
        return False

    def loose(self, key: str) -> Sequence[str]:
        """Arguments that a call may write to, whatever it leaves there."""
        return ()

    def of_host(self, key: str) -> Tensors:
        """The arguments that lie in the host's memory, if all else is on a card: by name."""
        return {}

    # -- what the judge asks ---------------------------------------------------------------------

    def describe(self, *, small: bool) -> CasesDescribed:
        """All tests that can be had, each tried."""
        if small not in self._described:
            self._described[small] = self._told(small=small)
        return self._described[small]

    def draw(self, case: str, seed: int, *, small: bool) -> Tensors:
        """The tensors of a test that are read."""
        values = self._drawn(case, seed, self._factor(case, small=small))
        return {name: x for name, x in values.items() if isinstance(x, Tensor)}

    def answers(
        self,
        case: str,
        inputs: Tensors,
        weights: int,
        *,
        small: bool,
        own: bool = False,
    ) -> Tensors:
        """The reference's outputs, in float64 where it runs in it, or its ``own``."""
        trial = self._nearest(case)
        wide = trial.exactness.wide and not own
        return self._evaluated(case, self._values(case, inputs, small=small), wide=wide)

    def check(self, case: str, inputs: Tensors, outputs: Tensors, *, small: bool) -> bool:
        """What the test's own check says."""
        values = self._values(case, inputs, small=small)

        def said(moved: Moved) -> Tensors:
            seed_all(1)
            given = copied(values, lambda x: moved(x).clone())
            with torch.no_grad():
                right = self.is_right(case, given, {n: moved(x) for n, x in outputs.items()})
            return {"right": torch.tensor(right)}

        try:
            return bool(PLACE.compute(said)["right"])
        except Exception as error:
            if no_memory(error):
                raise
            return False  # it accepted the reference's: these it cannot even look at

    # -- telling ---------------------------------------------------------------------------------

    def _told(self, *, small: bool) -> CasesDescribed:
        keys = self.keys()
        if not keys:
            raise MistakeError("it has no tests")
        if not small:
            self.try_for_card()
        self._nearest(keys[0])
        cases: list[ToldCase] = []
        parameters: tuple[ToldParameter, ...] = ()
        shown: list[Trial] = []
        for key in keys:
            if small:
                if (trial := self._trial(key)) is None:
                    continue
                values, right = trial.values, trial.right
            else:
                trial = self._nearest(key)
                values, right = self._at_full_size(key)
            found = self._parameters(key, values, right)
            parameters = parameters or found
            if self.alike(found) != self.alike(parameters):
                continue
            shown.append(trial)
            cases.append(self._case(key, values, right, trial, {} if small else self._host(key)))
        if not cases:
            raise UngradableError("all of its tests are too large for a machine without a GPU")
        rules = [each.rule for each in shown if each.rule is not None]
        return CasesDescribed(
            parameters=parameters,
            cases=tuple(cases),
            rtol=max((each.rtol for each in rules), default=0.0),
            atol=max((each.atol for each in rules), default=0.0),
            claims=tuple(self._claims(shown, len(keys), small=small)),
            on_card=not small and PLACE.draws,
        )

    def _parameters(self, key: str, values: Values, right: Tensors) -> tuple[ToldParameter, ...]:
        free = self.loose(key)
        found = []
        for name in self.order(key, values, right):
            value = values.get(name, right.get(name))
            assert value is not None
            ctype = self.ctype(name, value)
            if not isinstance(value, Tensor):
                whole = ctype not in ("float", "double", "bool")
                found.append(
                    ToldParameter(name=name, ctype=ctype, kind="size" if whole else "scalar")
                )
            elif name not in values:
                found.append(ToldParameter(name=name, ctype=ctype, kind="out"))
            else:
                kind = "inout" if name in free or name in right else "in"
                found.append(ToldParameter(name=name, ctype=ctype, kind=kind))  # type: ignore[arg-type]
        return tuple(found)

    def _host(self, key: str) -> Tensors:
        """What a test has in the host's memory, which must be the same each time."""
        found, again = self.of_host(key), self.of_host(key)
        if not same(found, again):
            names = ", ".join(sorted(found))
            raise UngradableError(f"{names} in the host's memory has other values each time")
        return found

    def _case(
        self, key: str, values: Values, right: Tensors, trial: Trial, host: Tensors
    ) -> ToldCase:
        names = self.order(key, values, right)
        tensors = {**values, **right}
        return ToldCase(
            key=key,
            tensors=tuple(
                told(
                    name,
                    x,
                    zeroed=self.is_zeroed(name),
                    compared=name in right,
                    strided=self.strided and name in values,
                    on_host=host.get(name),
                )
                for name in names
                if isinstance(x := tensors[name], Tensor)
            ),
            numbers={n: values[n] for n in names if not isinstance(tensors[n], Tensor)},  # type: ignore[misc]
            timed=self.is_timed(key),
            loose=tuple(self.loose(key)),
            rtol=None if trial.rule is None else trial.rule.rtol,
            atol=None if trial.rule is None else trial.rule.atol,
            own=trial.rule is None,
            rounded=trial.exactness.rounded,
            errors=dict(trial.exactness.errors),
            **self.details(key, values),
        )

    def _claims(self, shown: Sequence[Trial], count: int, *, small: bool) -> list[str]:
        claims = ["shapes: fixed"]
        factors = sorted({each.factor for each in shown} - {0})
        if small and factors:
            most = f" up to {factors[-1]}" if len(factors) > 1 else f" {factors[-1]}"
            claims.append(f"sizes: divided by{most} for the CPU")
        if len(shown) < count:
            claims.append(f"cases: {len(shown)} of {count}" + (" for the CPU" if small else ""))
        if all(each.given for each in shown):
            claims.append("inputs: fixed")
        elif any(each.given for each in shown):
            claims.append("inputs: given in some cases")
        if not all(each.exactness.wide or each.rule is None for each in shown):
            claims.append("reference: float32")
        if any(each.exactness.errors and each.rule is not None for each in shown):
            claims.append(ROUGHER)
        return claims
