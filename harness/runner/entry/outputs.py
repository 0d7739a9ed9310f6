"""Copies the tensors that a call returns into the judge's buffers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from harness.runner.program import ProgramFailed
from harness.runner.strides import overlap
from harness.wire.arguments import Parameters
from harness.wire.messages import FaultCode

if TYPE_CHECKING:
    from torch import Tensor

Arguments = tuple[Any, ...]
"""The arguments of one call: tensors and numbers."""
_MAX_NAMES = 20
_WRITTEN = ("out", "inout")
_ARRAYS = ("__dlpack__", "__array_interface__", "__cuda_array_interface__")
"""What tensors and arrays of all libraries have one of."""


class Outputs:
    """The judge's buffers for the outputs of one call, in the problem's order.

    With ``in_place`` the call may return None: it has filled them. With ``nested`` it may return
    tensors in lists and dictionaries, in order or by their names.
    """

    def __init__(
        self,
        entry: str,
        parameters: Parameters,
        arguments: Arguments,
        *,
        in_place: bool = False,
        nested: bool = False,
    ) -> None:
        self._entry = entry
        self._in_place = in_place
        self._nested = nested
        pairs = zip(parameters, arguments, strict=True)
        written = [(*declared, value) for declared, value in pairs if declared[1] in _WRITTEN]
        self._buffers = [(name, value) for name, _, value in written]
        self.places = [value if kind == "out" else None for _, kind, value in written]
        """Buffers that may be written before all is read; None for those that are read as well."""

    def take(self, returned: object) -> int:
        """Copy the tensors that do not lie in the buffers yet; returns how many.

        Raises:
            ProgramFailed: it is not as many tensors, or one has another shape, data type or device.
        """
        if returned is None and self._in_place:
            return 0
        if self._nested:
            returned = in_order(returned, [name for name, _ in self._buffers])
        single = len(self._buffers) == 1 and not isinstance(returned, tuple | list)
        values = [returned] if single else returned
        if not isinstance(values, tuple | list) or len(values) != len(self._buffers):
            wanted = list_names([name for name, _ in self._buffers])
            raise self._wrong(f"{described(returned)}, expected {wanted}")
        for (name, buffer), value in zip(self._buffers, values, strict=True):
            self._check(name, buffer, value)
        buffers = [buffer for _, buffer in self._buffers]
        pairs = zip(buffers, values, strict=True)
        elsewhere = [(buffer, value) for buffer, value in pairs if not _same_place(buffer, value)]
        # A tensor that overlaps a buffer must be read before anything is written there.
        for place, (buffer, value) in enumerate(elsewhere):
            if any(overlap(value, each) for each in buffers):
                elsewhere[place] = buffer, value.clone()
        for buffer, value in elsewhere:
            buffer.copy_(value)
        return len(elsewhere)

    def _check(self, name: str, buffer: "Tensor", value: object) -> None:
        import torch

        if not isinstance(value, torch.Tensor):
            raise self._wrong(f"{described(value)} for {name}, expected a tensor")
        for what, got, expected in (
            ("shape", list(value.shape), list(buffer.shape)),
            ("data type", value.dtype, buffer.dtype),
            ("device", value.device, buffer.device),
        ):
            if self._nested and got is torch.float64 and buffer.is_floating_point():
                continue  # rounded as it is copied: some references compute in it
            if got != expected:
                raise self._wrong(f"a tensor of {what} {got} for {name}, expected {expected}")

    def _wrong(self, what: str) -> ProgramFailed:
        return ProgramFailed(FaultCode.EXCEPTION, f"{self._entry} returned {what}")


def in_order(returned: object, names: Sequence[str] = ()) -> object:
    """Tensors that were returned in a dictionary or in nested lists, in one list."""
    if isinstance(returned, dict):
        by_name = set(returned) == set(names)
        returned = [returned[n] for n in names] if by_name else [*returned.values()]
    if not isinstance(returned, tuple | list):
        return returned
    found: list[object] = []
    for each in returned:
        inside = in_order(each)
        found += inside if isinstance(inside, tuple | list) else [inside]
    return found


def _same_place(buffer: "Tensor", value: "Tensor") -> bool:
    if value is buffer:
        return True
    lazy = value.is_conj() or value.is_neg()  # the same bytes, to be read in another way
    same = value.data_ptr() == buffer.data_ptr() and value.stride() == buffer.stride()
    return same and not lazy


def returned_in_vain(value: object, arguments: Arguments) -> str | None:
    """What ``value`` seems to be: ``tensor``, ``tensors`` or ``number``; None for anything else.

    None as well for the call's ``arguments`` and views of them, which may have been filled.
    """
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, tuple | list):
        kinds = [returned_in_vain(each, arguments) for each in value]
        return "tensors" if any(kind is not None for kind in kinds) else None
    if isinstance(value, int | float | complex) and not isinstance(value, bool):
        return "number"
    if not any(hasattr(type(value), name) for name in _ARRAYS):
        return None
    return None if any(_same_memory(value, each) for each in arguments) else "tensor"


def _same_memory(value: Any, argument: Any) -> bool:
    """Whether they are one object, or tensors in one piece of memory."""
    import torch

    if not (isinstance(value, torch.Tensor) and isinstance(argument, torch.Tensor)):
        return value is argument
    try:
        return value.untyped_storage().data_ptr() == argument.untyped_storage().data_ptr()
    except RuntimeError:  # such as a sparse one, which has no memory of its own
        return False


def described(value: object) -> str:
    """What a call has returned, for a message."""
    if isinstance(value, tuple | list):
        return f"{type(value).__name__} of {len(value)}"
    return "None" if value is None else f"a {type(value).__name__}"


def list_names(given: Sequence[str]) -> str:
    """The first of them, for a message."""
    shown = [f"`{name}`" for name in given[:_MAX_NAMES]]
    return ", ".join(shown) + (", …" if len(given) > _MAX_NAMES else "") or "none"
