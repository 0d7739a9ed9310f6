"""Trying the tests of a problem: each once, small if need be.

It shows the sizes that a test can have here, whether its answer is the same each time and evaluates
in float64, and the tolerance that its check stands for.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from harness.formats.process.adaptor import (
    Tensors,
    UngradableError,
    same,
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
from harness.runner.entry.construction import seed_all

_SURE = 0.5
"""Part of what is allowed by which a reference may be off its own answer in float64: it has other
inputs later on."""


class Trying(ABC):
    """Tests that are drawn, evaluated and checked by a format's part, each tried once.

    What their code raises comes through.
    """

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

    def is_tried(self, key: str) -> bool:
        """Whether it is one for a machine without a GPU."""
        return True

    # -- trying ----------------------------------------------------------------------------------

    def try_for_card(self) -> None:
        """Try all tests, and see whether inputs can be drawn on the card."""
        keys = self.keys()
        for key in keys:
            self._trial(key)
        PLACE.draw_there_if(self._draw_trials)
        if PLACE.has_card and not any(self._trials.values()):
            self._on_card = self._tried_on_card(keys[0])

    def _draw_trials(self) -> None:
        """Draw the tests at the sizes of their trials, known by now."""
        for key, trial in self._trials.items():
            if trial is not None:
                self._drawn(key, 1, trial.factor)

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
        message = "all of its tests are too large for a processor"
        if PLACE.why_left:
            message += f", and on the card its reference raises {PLACE.why_left}"
        raise UngradableError(message)

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


def _shape_of(tensor: Tensor) -> Tensor:
    return tensor.to("meta")
