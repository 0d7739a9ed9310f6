"""A file of KernelBench's contract, loaded: its module, called and described."""

import copy
import inspect
import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor

from harness.formats.messages import CasesDescribed, ToldCase, ToldParameter
from harness.formats.process.adaptor import (
    Exactness,
    MistakeError,
    Tensors,
    UngradableError,
    c_name,
    named,
    same,
    told,
    tried_wide,
    widened,
)
from harness.formats.process.nested import encoded, filled, flattened, listed
from harness.formats.process.place import PLACE, Moved, Rows
from harness.formats.process.rows import (
    agrees_with_whole,
    first_rows,
    is_by_rows,
    row_count,
    without_values,
)
from harness.formats.process.weights import held, hold, told_weights, without_weights
from harness.formats.rounding import ROUGHER
from harness.runner.entry.construction import seed_all

CASES = ("inputs=1", "inputs=2")
"""They differ in their seeds."""

LARGE = 1 << 30
"""Bytes of inputs and outputs from which on it matters whether rows depend on each other: what is
smaller goes into any card whole, and a look costs the calls of a few rows."""

_STAND_FOR, _FEWEST = 64, 2
"""One row of so many is looked at where a card has no room for all, and each follows from the same
row of the inputs; these at least."""

Arguments = Mapping[str, Tensor | int | float]


class ModelFile:
    """The loaded file with its numbers divided by ``factor``."""

    def __init__(self, names: Mapping[str, Any], factor: int, tolerance: float) -> None:
        self.names = names
        self.factor = factor
        self.constants: list[list[object]] = []
        """Name, value in the file and value here of each that is another one here."""
        self._tolerance = tolerance
        self._model: Any = _needed(names, "Model")
        self._get_inputs: Any = _needed(names, "get_inputs")
        self._get_init: Any = _needed(names, "get_init_inputs")
        self._made: tuple[int, torch.nn.Module] | None = None
        self._numbers: dict[str, int | float] = {}
        """The arguments of ``forward`` that are no tensors, by its parameters' names."""
        self._exactness: Exactness | None = None
        self._by_rows: bool | None = None
        """Whether each row of the outputs follows from one of the inputs; None: not known."""
        self._structure: Any = []
        """How the arguments of ``forward`` are nested."""

    def once(self) -> None:
        """Make the module and call it, on the device that is the default."""
        self._model(*self._get_init())(*self._get_inputs())

    def inputs(self, seed: int) -> dict[str, Tensor | int | float]:
        """The arguments of ``forward``, by its parameters' names."""
        seed_all(seed)
        values = PLACE.drawn(self._get_inputs)
        if not isinstance(values, list | tuple):
            raise MistakeError(f"get_inputs must return a list, not a {type(values).__name__}")
        found: dict[str, Tensor | int | float] = {}
        structure: list[object] = []
        for name, value in zip(self._names(len(values)), values, strict=True):
            if isinstance(value, int | float):
                found[name] = value
                structure.append({"argument": name})
                continue
            if not isinstance(value, Tensor | tuple | list | dict):
                kind = type(value).__name__
                raise UngradableError(f"get_inputs returns a {kind}: tensors and numbers alone")
            inside, leaves = flattened(value, name)
            structure.append(inside)
            found |= {
                leaf: PLACE.with_inputs(x.detach()).contiguous() for leaf, x in leaves.items()
            }
        self._structure = structure
        return found

    def _names(self, count: int) -> list[str]:
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        parameters = [*inspect.signature(self._model.forward).parameters.values()][1:]
        names = [p.name for p in parameters if p.kind in kinds][:count]
        return names + [f"input_{number}" for number in range(len(names), count)]

    def right(self, inputs: Tensors, weights: int, *, own: bool = False) -> dict[str, Tensor]:
        """The outputs in float64, where the module can compute in it; or its ``own``."""
        if self._exactness is None:
            self.described()
        assert self._exactness is not None
        arguments = {**self._numbers, **without_weights(inputs)}
        module = self._module(weights)
        hold(module, inputs)
        return self._called(module, arguments, 0, wide=self._exactness.wide and not own)

    def made(self, seed: int) -> torch.nn.Module:
        """A module made under a seed."""
        seed_all(seed)
        with torch.no_grad():
            made = self._model(*self._get_init())
        if not isinstance(made, torch.nn.Module):
            raise MistakeError(f"Model makes a {type(made).__name__}, not a torch.nn.Module")
        return made

    def _module(self, seed: int) -> torch.nn.Module:
        """A copy of the module made under a seed, which is kept."""
        if self._made is None or self._made[0] != seed:
            self._made = None  # its memory first
            self._made = (seed, self.made(seed))
        return copy.deepcopy(self._made[1])

    def _called(
        self, module: torch.nn.Module, arguments: Arguments, seed: int, *, wide: bool = False
    ) -> dict[str, Tensor]:
        """What a module returns for copies of the arguments."""
        returned = partial(self._returned, module, arguments, seed, wide=wide)

        def rows() -> Rows | None:
            # In types of its own what is added up in another order comes to another number.
            if not (wide or PLACE.keeps_apart) or not self._follows_rows(module, arguments):
                return None
            return Rows(row_count(tensors_of(arguments)), lambda some: partial(returned, some=some))

        outputs = PLACE.compute(returned, rows)
        module.to("cpu")
        return outputs

    def _returned(
        self,
        module: torch.nn.Module,
        arguments: Arguments,
        seed: int,
        moved: Moved,
        some: slice | None = None,
        *,
        wide: bool,
    ) -> Tensors:
        """What a module that is moved returns for copies of the arguments, or of some rows."""
        given: dict[str, object] = {}
        for key, value in arguments.items():
            if isinstance(value, Tensor):
                value = value if some is None else value[some]
                value = widened(moved(value)) if wide else moved(value).clone()
            given[key] = value
        seed_all(seed)
        there = moved(module)
        with torch.no_grad():
            found = (there.double() if wide else there)(*filled(self._structure, given))
        name = "output" if "output" not in arguments else "output_of_forward"
        return named(listed(found), name)

    def _follows_rows(self, module: torch.nn.Module, arguments: Arguments) -> bool:
        """Whether each row of the outputs follows from one of the inputs, tried once."""
        if self._by_rows is None:
            count = row_count(tensors_of(arguments))
            self._by_rows = count > 0 and is_by_rows(self._of_rows(module, arguments), count)
        return self._by_rows

    def _of_rows(self, module: torch.nn.Module, arguments: Arguments) -> Callable[[slice], Tensors]:
        """Computes a few rows in float64, by a copy of the module: it may count its calls."""
        returned = partial(self._returned, copy.deepcopy(module), arguments, 1, wide=True)
        return lambda some: PLACE.tried(partial(returned, some=some))

    def _rows_for_all(self, module: torch.nn.Module, arguments: Arguments) -> int:
        """How many rows are looked at, where the card has no room for all; 0 for all of them."""
        if not (PLACE.keeps_apart and self._follows_rows(module, arguments)):
            return 0
        return max(_FEWEST, row_count(tensors_of(arguments)) // _STAND_FOR)

    def _can_be_cut(
        self, module: torch.nn.Module, arguments: Arguments, outputs: Tensors, exact: Exactness
    ) -> bool:
        """Whether the judge may ask for some rows of the outputs, which are large."""
        tensors = tensors_of(arguments)
        if sum(x.nbytes for x in (*tensors.values(), *outputs.values())) < LARGE:
            return False
        count = row_count(tensors)
        if not exact.wide or count < 2 or row_count(outputs) != count:
            return False
        rows, rough = self._of_rows(module, arguments), bool(exact.errors)
        return self._follows_rows(module, arguments) and agrees_with_whole(
            rows, outputs, count, self._tolerance, rough=rough
        )

    def described(self) -> CasesDescribed:
        """See :meth:`harness.formats.process.kernelbench.KernelBench.describe`."""
        return PLACE.fitted(self._told, apart=True)

    def _told(self) -> CasesDescribed:
        PLACE.draw_there()
        arguments = self.inputs(1)
        self._numbers = {n: x for n, x in arguments.items() if not isinstance(x, Tensor)}
        module = self._module(1)
        as_made = held(self._module(1))
        tensors = tensors_of(arguments)
        count = row_count(tensors)
        standing = self._rows_for_all(module, arguments)
        kept = partial(first_rows, count=standing) if standing else _set_aside
        if standing:
            tensors = kept(tensors)
            arguments = {**arguments, **tensors}
        outputs = self._called(module, arguments, 1)
        if not same(outputs, self._called(module, arguments, 1)):
            if same(outputs, self._called(self._module(1), arguments, 1)):
                raise UngradableError("its module remembers earlier calls")
            raise UngradableError("its reference is not the same each time")
        if not same(outputs, self._called(self._module(1), arguments, 2)):
            raise UngradableError("its reference draws random numbers in the call (dropout?)")
        weights = told_weights(as_made, held(self.made(2)), module)
        if weights and PLACE.draws:  # as it will be, with values of each call's own
            PLACE.drawn(lambda: self.made(2))
        module = self._module(1)
        self._exactness = exactness = tried_wide(
            lambda: self._called(module, arguments, 1, wide=True),
            outputs,
            self._tolerance,
            self._tolerance,
        )
        by_rows = (
            exactness.wide if standing else self._can_be_cut(module, arguments, outputs, exactness)
        )
        tensors = kept(tensors)
        arguments = {**arguments, **tensors}  # two sets of inputs need not fit on the card
        claims = ["shapes: fixed"]
        if tensors and same(tensors, kept(tensors_of(self.inputs(2)))):
            claims.append("inputs: fixed")
        if standing:  # the shapes of all that they stand for
            outputs = without_values(outputs, count)
            arguments = {**arguments, **without_values(tensors, count)}
        if as_made:
            claims.append("weights: fixed for a grade")
        if not exactness.wide:
            claims.append("reference: float32")
        if exactness.errors:
            claims.append(ROUGHER)
        if self.factor:
            how = f"divided by {self.factor}" if self.factor > 1 else "smaller batch"
            claims.append(f"sizes: {how} for the CPU")
        return CasesDescribed(
            parameters=(
                *(_parameter(name, value) for name, value in arguments.items()),
                *(
                    ToldParameter(name=n, ctype=c_name(x.dtype), kind="out")
                    for n, x in outputs.items()
                ),
            ),
            cases=tuple(
                self._case(key, arguments, outputs, exactness, by_rows=by_rows) for key in CASES
            ),
            rtol=self._tolerance,
            atol=self._tolerance,
            claims=tuple(claims),
            weights=weights,
            on_card=PLACE.draws,
        )

    def _is_nested(self) -> bool:
        return any("argument" not in each for each in self._structure)

    def _case(
        self,
        key: str,
        arguments: Arguments,
        outputs: Tensors,
        exactness: Exactness,
        *,
        by_rows: bool,
    ) -> ToldCase:
        tensors = {**tensors_of(arguments), **outputs}
        return ToldCase(
            key=key,
            tensors=tuple(told(n, x, compared=n in outputs) for n, x in tensors.items()),
            numbers={n: v for n, v in arguments.items() if not isinstance(v, Tensor)},
            timed=key == CASES[0],
            construct=json.dumps(encoded(self._get_init())),
            call=json.dumps(self._structure) if self._is_nested() else "",
            constants=json.dumps(self.constants) if self.constants else "",
            rounded=exactness.rounded,
            errors=dict(exactness.errors),
            by_rows=by_rows,
        )


def _needed(names: Mapping[str, object], name: str) -> object:
    found = names.get(name)
    if not callable(found):
        raise MistakeError(f"the file defines no {name}")
    return found


def tensors_of(arguments: Arguments) -> dict[str, Tensor]:
    """The arguments that are tensors."""
    return {name: value for name, value in arguments.items() if isinstance(value, Tensor)}


def _set_aside(tensors: Tensors) -> dict[str, Tensor]:
    return {name: PLACE.set_aside(x) for name, x in tensors.items()}


def _parameter(name: str, value: Tensor | int | float) -> ToldParameter:
    if isinstance(value, Tensor):
        return ToldParameter(name=name, ctype=c_name(value.dtype), kind="in")
    kind = "bool" if isinstance(value, bool) else "int64_t" if isinstance(value, int) else "double"
    return ToldParameter(name=name, ctype=kind, kind="scalar")
