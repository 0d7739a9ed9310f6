"""What formats with separate tests have in common: each test is tried once, small if need be.

A format's part draws a test's arguments, computes what is right, and has its own check. Trying a
test shows the sizes that it can have here, whether its answer is the same each time and evaluates
in float64, and the tolerance that its check stands for.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from harness.formats.messages import CasesDescribed, ToldCase, ToldParameter
from harness.formats.process.adaptor import (
    Adaptor,
    MistakeError,
    Tensors,
    UngradableError,
    c_name,
    same,
    told,
    tried_wide,
    widened,
    without_gaps,
)
from harness.formats.process.checks import Rule
from harness.formats.process.cutting import (
    FACTORS,
    MOST_COST,
    Bounded,
    TooMuchError,
    Written,
    shapes_only,
)
from harness.formats.process.place import PLACE, Moved
from harness.formats.process.trial import Trial, Value, Values, copied
from harness.formats.rounding import ROUGHER
from harness.runner.entry.construction import seed_all

_SURE = 0.5
"""Part of what is allowed by which a reference may be off its own answer in float64: it has other
inputs later on."""


class Tested(Adaptor, ABC):
    """Base of adaptors of formats with tests. What their code raises comes through."""

    most_elements, most_flops = 1 << 20, 1 << 27
    """Of a test that an emulator runs: in all its tensors, and what the reference computes."""
    factors: Sequence[int] = (0, *FACTORS[2:])
    strided = False
    """Whether a submission gets tensors with the strides that they are made with."""

    def __init__(self) -> None:
        self._trials: dict[str, Trial | None] = {}
        self._on_card: Trial | None = None
        """Of a test that stands for all, where none goes on the processor."""
        self._failed: Exception | None = None
        """What one raised on the processor, though a card may do it."""
        self._full: dict[str, tuple[Values, Tensors]] = {}
        self._described: dict[bool, CasesDescribed] = {}

    # -- what a format brings --------------------------------------------------------------------

    @abstractmethod
    def keys(self) -> Sequence[str]:
        """The names of all tests, in order."""

    @abstractmethod
    def drawn(self, key: str, seed: int, factor: int) -> dict[str, Any]:
        """The arguments of a test that are no pure outputs, by the names of its parameters."""

    @abstractmethod
    def evaluated(self, key: str, values: Values) -> dict[str, Tensor]:
        """The outputs by name; ``values`` may be changed."""

    @abstractmethod
    def rule(self, key: str, values: Values, right: Tensors) -> Rule | None:
        """The tolerance that the test's check stands for; None where that itself decides."""

    def is_right(self, key: str, values: Values, outputs: Tensors) -> bool:
        """What the test's own check says; both may be changed."""
        raise UngradableError("it has no check of its own")

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

    def is_tried(self, key: str) -> bool:
        """Whether it is one for a machine without a GPU."""
        return True

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
        except MemoryError:
            raise
        except Exception:  # it accepted the reference's: these it cannot even look at
            return False

    # -- trying ----------------------------------------------------------------------------------

    def _factor(self, key: str, *, small: bool) -> int:
        trial = self._trial(key) if small else None
        return 0 if trial is None else trial.factor

    def _values(self, key: str, inputs: Tensors, *, small: bool) -> dict[str, Value]:
        trial = self._trial(key) if small else None
        known = trial.values if trial is not None else self._at_full_size(key)[0]
        return {name: inputs.get(name, value) for name, value in known.items()}

    def _nearest(self, key: str) -> Trial:
        """The trial of a test, or of another, where it cannot be small."""
        for each in (key, *self.keys()):
            if (trial := self._trial(each)) is not None:
                return trial
        if self._on_card is not None:
            return self._on_card
        if self._failed is not None:
            raise self._failed
        raise UngradableError("all of its tests are too large for a processor")

    def _trial(self, key: str) -> Trial | None:
        if key not in self._trials:
            self._trials[key] = self._tried(key) if self.is_tried(key) else None
        return self._trials[key]

    def _tried(self, key: str) -> Trial | None:
        """The test at the first sizes that go on the processor; None if there are none."""
        with PLACE.on_processor():
            for factor in self.factors:
                try:
                    values, right = self._bounded(key, factor)
                except TooMuchError:
                    continue
                except Exception as error:
                    if factor == 0 and PLACE.has_card:
                        self._failed = self._failed or error
                        return None
                    if factor == 0:
                        raise
                    continue  # these numbers do not go together: others may
                return self._studied(key, factor, values, right)
        return None

    def _tried_on_card(self, key: str) -> Trial:
        """The test at its own sizes, where all is drawn and computed later on."""
        values = self._drawn(key, 1, 0)
        trial = self._studied(key, 0, values, self._evaluated(key, values))
        shapes = {n: _shape_of(x) if isinstance(x, Tensor) else x for n, x in values.items()}
        right = {name: _shape_of(x) for name, x in trial.right.items()}
        return replace(trial, values=shapes, right=right)

    def _bounded(self, key: str, factor: int) -> tuple[dict[str, Value], Tensors]:
        """A test drawn and evaluated; a TooMuchError if that is more than an emulator can do."""
        most = int(MOST_COST * self.most_elements)
        self._estimate(key, factor, most)
        with Bounded(most), Written(most):
            values = self._drawn(key, 1, factor)
        tensors = [x for x in values.values() if isinstance(x, Tensor)]
        if sum(x.numel() for x in tensors) > self.most_elements:
            raise TooMuchError
        with Bounded(most), Written(most) as counter:
            right = self._evaluated(key, values)
        if counter.flops > self.most_flops:
            raise TooMuchError
        return values, right

    def _estimate(self, key: str, factor: int, most: int) -> None:
        """Raise a TooMuchError for what shows without values already."""
        try:
            with shapes_only(), Written(most) as counter:
                self._evaluated(key, self._drawn(key, 1, factor))
        except TooMuchError:
            raise
        except Exception:
            return
        if counter.flops > self.most_flops:
            raise TooMuchError

    def _studied(self, key: str, factor: int, values: Values, right: Tensors) -> Trial:
        if not same(right, self._evaluated(key, values, seed=2)):
            raise UngradableError("its reference is not the same each time")
        given, answer = copied(values), {n: x.clone() for n, x in right.items()}
        rule = PLACE.drawn(lambda: self.rule(key, given, answer))
        if rule is None and not self._accepts(key, values, right):
            raise UngradableError("its check does not accept its own reference's answer")
        bounds = rule or Rule(rtol=0.0, atol=0.0)
        exactness = tried_wide(
            lambda: self._evaluated(key, values, wide=True),
            right,
            bounds.rtol * _SURE,
            bounds.atol * _SURE,
        )
        tensors = {n: x for n, x in values.items() if isinstance(x, Tensor)}
        other = self._drawn(key, 2, factor)
        return Trial(
            factor=factor,
            values=values,
            right=right,
            exactness=exactness,
            rule=rule,
            given=same(tensors, {n: x for n, x in other.items() if isinstance(x, Tensor)}),
        )

    def _accepts(self, key: str, values: Values, right: Tensors) -> bool:
        seed_all(1)
        given, answer = copied(values), {n: x.clone() for n, x in right.items()}
        with torch.no_grad():
            return PLACE.drawn(lambda: self.is_right(key, given, answer))

    def _at_full_size(self, key: str) -> tuple[Values, Tensors]:
        """Arguments and outputs at the test's own sizes, without values if that can be."""
        if key not in self._full:
            try:
                with shapes_only():
                    values = self._drawn(key, 1, 0)
                    found = values, self._evaluated(key, values)
            except Exception:
                values = self._drawn(key, 1, 0)
                found = values, self._evaluated(key, values)
            given = {n: _shape_of(x) if isinstance(x, Tensor) else x for n, x in found[0].items()}
            self._full[key] = given, {n: _shape_of(x) for n, x in found[1].items()}
        return self._full[key]

    def _drawn(self, key: str, seed: int, factor: int) -> dict[str, Value]:
        seed_all(seed)
        with torch.no_grad():
            values = PLACE.drawn(lambda: self.drawn(key, seed, factor))
        for name, value in values.items():
            if not isinstance(value, Tensor | int | float):
                raise UngradableError(f"{name} is a {type(value).__name__}: no tensor or number")
        settled = without_gaps if self.strided else Tensor.contiguous
        return {
            name: settled(PLACE.with_inputs(x.detach())) if isinstance(x, Tensor) else x
            for name, x in values.items()
        }

    def _evaluated(
        self, key: str, values: Values, *, wide: bool = False, seed: int = 1
    ) -> dict[str, Tensor]:
        copy = widened if wide else torch.clone

        def right(moved: Moved) -> Tensors:
            seed_all(seed)
            with torch.no_grad():
                return self.evaluated(key, copied(values, lambda x: copy(moved(x))))

        return PLACE.compute(right)

    # -- telling ---------------------------------------------------------------------------------

    def _told(self, *, small: bool) -> CasesDescribed:
        keys = self.keys()
        if not keys:
            raise MistakeError("it has no tests")
        if not small:
            for key in keys:
                self._trial(key)
            PLACE.draw_there_if(self._draw_trials)
            if PLACE.has_card and not any(self._trials.values()):
                self._on_card = self._tried_on_card(keys[0])
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

    def _draw_trials(self) -> None:
        """Draw the tests at the sizes of their trials, known by now."""
        for key, trial in self._trials.items():
            if trial is not None:
                self._drawn(key, 1, trial.factor)

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


def _shape_of(tensor: Tensor) -> Tensor:
    return tensor.to("meta")
