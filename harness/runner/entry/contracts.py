"""Calls a loaded Python submission, whichever entry point it has.

``solution`` and ``solve`` get the parameters in order and fill the outputs. What ``custom_kernel``
and ``ModelNew`` return, and several functions that a format names, must lie in the outputs in the
end, the judge's own buffers: it is made there where that can be done (:mod:`.output_placement`) or
else copied, within the call and in its time. A return value that cannot be copied as it is (shape,
data type, device) is an error that says what was expected.
"""

import inspect
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from types import ModuleType
from typing import TYPE_CHECKING, Any

from harness.runner.entry.construction import called_with, replace_constants
from harness.runner.entry.construction import made as constructed
from harness.runner.entry.outputs import Arguments, Outputs, list_names, returned_in_vain
from harness.runner.entry.returning import Bound, Caller, Entry, Returning, found_in, misfit
from harness.runner.entry.several import Several
from harness.runner.entry.weights import called_with_weights, listed_weights, named_weights
from harness.runner.program import ProgramFailed
from harness.wire.arguments import AND, Construct, ListedWeight, Parameters
from harness.wire.messages import FaultCode

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module


def caller(module: ModuleType, entry: str, parameters: Parameters) -> Caller:
    """Find ``entry`` in ``module``: one thing, or several functions.

    Raises:
        ProgramFailed: the module has no such thing.
    """
    if AND in entry:
        functions = {name: found_in(module, name) for name in entry.split(AND)}
        return Several(functions, parameters)
    found = found_in(module, entry)
    if entry == "custom_kernel":
        return _Tuple(found, parameters)
    if entry == "ModelNew":
        # A reference's class comes from a file beside the submitted one, with constants of its own.
        return Model(found, parameters, vars(sys.modules.get(str(found.__module__), module)))
    if entry == "run":
        return _Run(found, parameters)
    return _Positional(found, entry, parameters)


def offer_imports(entry: str) -> None:
    """Let ``custom_kernel`` files import ``task``, the module of types that they expect."""
    if entry == "custom_kernel":
        task = ModuleType("task")
        vars(task).update(input_t=Any, output_t=Any)
        sys.modules.setdefault("task", task)


class _Positional(Caller):
    """All parameters in order; what is returned is ignored."""

    def __init__(self, entry: Entry, name: str, parameters: Parameters) -> None:
        self._entry = entry
        named = ", ".join(parameter for parameter, _ in parameters)
        self._asked = f"\nthe problem asks for\n    def {name}({named}):" if parameters else ""
        self._calls: Sequence[Arguments] = ()

    def bind(self, calls: Sequence[Arguments], construct: Construct | None = None) -> None:  # noqa: ARG002 (for classes)
        self._calls = calls

    def call(self, index: int) -> None:
        try:
            returned = self._entry(*self._calls[index])
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise
            # Not from within: it does not take what it is given.
            raise ProgramFailed(FaultCode.EXCEPTION, f"TypeError: {error}{self._asked}") from error
        if returned is not None and self.ignored is None:
            self.ignored = returned_in_vain(returned, self._calls[index])


class _Tuple(Returning):
    """One tuple: what is read but sizes, in the problem's order, then what is only written.

    It may return None where it has filled the outputs in place.
    """

    def _bound(self, calls: Sequence[Arguments]) -> list[Bound]:
        if self._construct is not None:
            return [self._bound_as_said(arguments, self._construct) for arguments in calls]
        kinds = [kind for _, kind in self._parameters]
        order = [i for i, kind in enumerate(kinds) if kind not in ("out", "size")]
        order += [i for i, kind in enumerate(kinds) if kind == "out"]
        return [
            (
                partial(self._entry, tuple(arguments[i] for i in order)),
                Outputs("custom_kernel", self._parameters, arguments, in_place=True),
            )
            for arguments in calls
        ]

    def _bound_as_said(self, arguments: Arguments, construct: Construct) -> Bound:
        """A call with what a format says; what it only writes is returned, all else is its own."""
        values = {name: x for (name, _), x in zip(self._parameters, arguments, strict=True)}
        written = [(name, kind) for name, kind in self._parameters if kind == "out"]
        outputs = Outputs(
            "custom_kernel",
            tuple(written),
            tuple(values[name] for name, _ in written),
            in_place=True,
            nested=True,
        )
        return partial(self._entry, *called_with(construct, values)), outputs


class _Run(Returning):
    """All that is read in order, or by names; outputs after it where the function takes them."""

    def _bound(self, calls: Sequence[Arguments]) -> list[Bound]:
        names = [name for name, _ in self._parameters]
        given = [name for name, kind in self._parameters if kind != "out"]
        by_name, fills = _asked(self._entry, names, given)
        bound: list[Bound] = []
        for arguments in calls:
            values = dict(zip(names, arguments, strict=True))
            chosen = {name: values[name] for name in (names if fills else given)}
            make = (
                partial(self._entry, **chosen)
                if by_name
                else partial(self._entry, *chosen.values())
            )
            outputs = Outputs("run", self._parameters, arguments, in_place=fills, nested=True)
            bound.append((make, outputs))
        return bound


def _asked(entry: Entry, names: Sequence[str], given: Sequence[str]) -> tuple[bool, bool]:
    """Whether a function is called with names, and whether it takes the outputs as well.

    Raises:
        ProgramFailed: it takes neither what is read alone nor outputs beside it.
    """
    try:
        parameters = inspect.signature(entry).parameters
    except (TypeError, ValueError):
        return False, False
    for fills, wanted in ((False, given), (True, names)):
        if set(parameters) == set(wanted):
            return all(p.kind in _NAMED for p in parameters.values()), fills
    for fills, wanted in ((False, given), (True, names)):
        with suppress(TypeError):
            inspect.signature(entry).bind(*wanted)
            return False, fills
    raise misfit(f"run takes {len(parameters)} arguments, and is given {list_names(given)}")


class Model(Returning):
    """A module made from sizes and scalars; the tensors that are read are its weights and inputs.

    It is made once for a batch, before anything is timed; each call has weights of its own.
    """

    def __init__(self, entry: Entry, parameters: Parameters, names: dict[str, Any]) -> None:
        super().__init__(entry, parameters)
        self._names = names

    def _bound(self, calls: Sequence[Arguments]) -> list[Bound]:
        if self._construct is not None:
            return self._bound_as_constructed(calls, self._construct)
        names = [name for name, _ in self._parameters]
        first = dict(zip(names, calls[0], strict=True))
        read = [name for name, kind in self._parameters if kind in ("in", "inout")]
        model = self.made(first)
        if read:
            model = model.to(first[read[0]].device)
        weights = _weights(model, {name: first[name] for name in read})
        inputs = [name for name in read if name not in weights.values()]
        wanted = _forward_arguments(model.forward, names, inputs)
        bound: list[Bound] = []
        for arguments in calls:
            values = dict(zip(names, arguments, strict=True))
            loaded = {weight: values[name] for weight, name in weights.items()}
            given = [values[name] for name in wanted]
            make = partial(called_with_weights, model, loaded, given)
            bound.append((make, Outputs("ModelNew.forward", self._parameters, arguments)))
        return bound

    def _bound_as_constructed(
        self, calls: Sequence[Arguments], construct: Construct
    ) -> list[Bound]:
        """Calls of a module made as a format says.

        Its weights are those of the seed, but for those that the format gives each call.
        """
        import torch

        model = self.made({}, construct)
        device = next(x.device for x in calls[0] if isinstance(x, torch.Tensor))
        model = model.to(device)
        fed = self._fed(model, construct.weights)
        names = [name for name, _ in self._parameters]
        bound: list[Bound] = []
        for everything in calls:
            arguments, own = everything[: len(names)], everything[len(names) :]
            values = dict(zip(names, arguments, strict=True))
            loaded = {w: x for w, x in zip(fed, own, strict=True) if w is not None}
            given = (
                called_with(construct, values)
                if construct.call
                else [values[name] for name, kind in self._parameters if kind != "out"]
            )
            outputs = Outputs("ModelNew.forward", self._parameters, arguments, nested=True)
            bound.append((partial(called_with_weights, model, loaded, given), outputs))
        return bound

    def _fed(self, model: "Module", names: Sequence[str]) -> list["Tensor | None"]:
        """The module's weights of these names, whose values each call replaces; None for none."""
        known = named_weights(model)
        if missing := [name for name in names if name and name not in known]:
            raise misfit(f"ModelNew had a weight `{missing[0]}` when it was made before")
        fed = [known[name] if name else None for name in names]
        # What a file has noted of their memory (addresses, views) stays valid.
        self._as_made = [weight.data for weight in fed if weight is not None]
        return fed

    def weights(self, construct: Construct) -> tuple[ListedWeight, ...]:
        """Those of a module made for this alone."""
        return listed_weights(self.made({}, construct))

    def made(self, values: Mapping[str, Any], construct: Construct | None = None) -> "Module":
        """Make the module, as ``construct`` says; else its constructor asks for ``values`` by name.

        These are sizes and scalars.
        """
        if construct is not None:
            replace_constants(self._names, construct.constants)
            return self._module(constructed(self._entry, construct))
        numbers = [name for name, kind in self._parameters if kind in ("size", "scalar")]
        given = {}
        for name, parameter in inspect.signature(self._entry).parameters.items():
            if name in numbers and parameter.kind not in _VARIABLE:
                given[name] = values[name]
            elif parameter.default is parameter.empty and parameter.kind not in _VARIABLE:
                raise misfit(
                    f"ModelNew.__init__ asks for `{name}`, which is no size or scalar of the "
                    f"problem{_listed(numbers)}"
                )
        return self._module(self._entry(**given))

    def _module(self, model: object) -> "Module":
        import torch

        if not isinstance(model, torch.nn.Module):
            raise misfit(f"ModelNew makes a {type(model).__name__}, not a torch.nn.Module")
        return model


_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _weights(model: "Module", tensors: dict[str, "Tensor"]) -> dict["Tensor", str]:
    """Assign tensors of the problem to the module's parameters and buffers.

    The last part of a parameter's name in ``state_dict`` is a tensor's name, or all of it with
    ``_`` for the dots, and the shapes are the same. Each parameter is filled, and no two by one.
    """
    filled: dict[Tensor, str] = {}  # a dictionary compares tensors by identity
    parameters = list(model.named_parameters(remove_duplicate=False))
    for key, weight in chain(parameters, model.named_buffers()):
        names = (key.replace(".", "_"), key.rpartition(".")[2])
        name = next((n for n in names if n in tensors and tensors[n].shape == weight.shape), None)
        if name is None:
            continue
        if name in filled.values() and filled.get(weight) != name:
            raise misfit(
                f"ModelNew has several parameters that `{name}` could be, `{key}` among them: give "
                "them other names"
            )
        filled[weight] = name
    for key, weight in parameters:
        if weight not in filled:
            shapes = [f"{name} {list(tensor.shape)}" for name, tensor in tensors.items()]
            raise misfit(
                f"ModelNew has a parameter `{key}` of shape {list(weight.shape)} that no tensor of "
                f"the problem fills: name and shape must be the same{_listed(shapes)}"
            )
    return filled


def _forward_arguments(forward: Entry, names: list[str], inputs: list[str]) -> list[str]:
    """Choose the parameters that ``forward`` is called with, in order.

    By name if all that it needs have names of the problem's; else all ``inputs`` in order.
    """
    parameters = inspect.signature(forward).parameters.values()
    wanted = [p for p in parameters if p.kind in _BY_POSITION]
    needed = [p.name for p in wanted if p.default is p.empty]
    if needed and all(name in names for name in needed):
        return needed
    many = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    if len(needed) <= len(inputs) <= (len(inputs) if many else len(wanted)):
        return inputs
    raise misfit(
        f"ModelNew.forward takes {len(needed)} arguments ({list_names(needed)}), and the problem "
        f"has {len(inputs)} inputs that are no weights{_listed(inputs)}"
    )


def _listed(names: Sequence[str]) -> str:
    return f" ({list_names(names)})" if names else ""
