"""Makes the outputs that a call returns in the judge's buffers, so that none is copied.

All operations on tensors go through PyTorch's dispatcher. One call is only watched: it shows which
operation makes the memory of each tensor that is returned. In later calls that operation writes to
the judge's buffer: ``torch.empty_like(x)`` is then that buffer, and ``a @ b`` is
``torch.mm(a, b, out=buffer)``. Nothing else changes, and what cannot be placed is copied.

A file must not notice. So nothing is placed

- where a tensor that was returned is still there after the call: it may be a workspace;
- where the operation reads the buffer, or its arguments are not like those that were watched;
- where a call with placed outputs gives something else than one without, as it would if the file
  used the buffer that it was given for something else;
- for files that ``torch.compile`` has worked on, which a mode of the dispatcher would turn off.

This runs beside submitted code and decides nothing: what lies in the buffers is checked anyway.
What it needs of PyTorch's private functions is in :mod:`harness.runner.entry.torch_private`.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeGuard

import torch
from torch import Tensor
from torch._ops import OpOverload

from harness.runner.entry.out_variants import Arguments, Keywords, Write, makes_memory, writer
from harness.runner.entry.outputs import Outputs
from harness.runner.entry.torch_private import (
    StorageWeakRef,
    TorchDispatchMode,
    all_expired,
    has_compiled,
    storage_id,
    tensor_in,
    tree_leaves,
    weak_storage,
)
from harness.runner.strides import overlap

ALIGNMENT = 512
"""Bytes. PyTorch's own memory starts at a multiple of this, and files may rely on that."""

_NEAR = 0.02
"""Relative difference; sums in another order differ by less, another tensor's values by more."""
_PIECE = 1 << 24
"""Elements that are compared at a time: temporaries of all would take several times an output."""


class Step(NamedTuple):
    """An operation that makes memory, and the tensor that comes out, which has no gaps."""

    signature: tuple[object, ...]
    """The operation and its arguments, as far as they decide the result's form."""
    write: Write
    """Writes its result to a given tensor."""
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: torch.dtype


_Call = Callable[[], object]
_Steps = dict[int, tuple[int, Step]]
"""By the ordinal of an operation: which output it makes, and how."""


class Placement:
    """Places the outputs of a submission's calls with one set of sizes. Used under ``no_grad``."""

    def __init__(self) -> None:
        self._steps: _Steps = {}
        self._stopped = False

    @property
    def active(self) -> bool:
        """Whether outputs of the next call will be placed."""
        return bool(self._steps)

    def forget(self) -> None:
        """Drop what was learnt, for calls of other sizes."""
        self._steps = {}

    def stop(self) -> None:
        """Place nothing from now on."""
        self.forget()
        self._stopped = True

    def learn(self, call: _Call, outputs: Outputs) -> None:
        """Make two calls, as were made before, and find out from them what can be placed."""
        self.forget()
        if self._stopped or has_compiled() or not any(map(_usable, outputs.places)):
            return
        self._steps, storages = _watched(call, outputs)
        if not all_expired(storages) or (self._steps and not self._same(call, outputs)):
            self.stop()

    def run(self, call: _Call, outputs: Outputs) -> int:
        """Make a call; returns how many outputs were copied."""
        if not self._steps:
            return outputs.take(call())
        with _Placing(self._steps, outputs.places) as mode:
            returned = call()
        copied = outputs.take(returned)
        del returned
        if not all_expired(mode.placed):
            self.stop()
        return copied

    def _same(self, call: _Call, outputs: Outputs) -> bool:
        """Whether a placed call gives what the watched one has left in the buffers."""
        placed = [outputs.places[which] for which, _ in self._steps.values()]
        pairs = []
        try:
            for buffer in placed:
                assert buffer is not None
                pairs.append((buffer.clone(), buffer))
                buffer.view(-1).view(torch.uint8).fill_(0xFF)
            self.run(call, outputs)
            return all(_near(before, after) for before, after in pairs)
        except Exception:  # whatever it is: the same call went well when nothing was placed
            return False


class _Makers(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Hands operations that make memory to :meth:`make`; others are called as they are."""

    def __torch_dispatch__(
        self,
        func: OpOverload,
        types: object,
        args: Arguments = (),
        kwargs: Keywords | None = None,
    ) -> object:
        kwargs = kwargs or {}
        return self.make(func, args, kwargs) if makes_memory(func) else func(*args, **kwargs)

    def make(self, func: OpOverload, args: Arguments, kwargs: Keywords) -> object:
        raise NotImplementedError


class _Watching(_Makers):
    """Notes every operation that makes memory, and which of them made which."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._ordinal = 0
        self.makers: dict[int, tuple[int, Step | None]] = {}
        """By storage: the ordinal of the operation that made it, and how to place its result."""

    def make(self, func: OpOverload, args: Arguments, kwargs: Keywords) -> object:
        signature = _signature(func, args, kwargs)
        result = func(*args, **kwargs)
        # Some that share their argument's memory do not declare it (`_unsafe_view`).
        if _plain(result) and storage_id(result) not in map(storage_id, _tensors(args, kwargs)):
            step = None
            if (write := writer(func)) is not None and result.is_contiguous():
                step = Step(signature, write, result.shape, result.stride(), result.dtype)
            self.makers[storage_id(result)] = self._ordinal, step
        self._ordinal += 1
        return result


class _Placing(_Makers):
    """Has some operations write to the judge's buffers."""

    def __init__(self, steps: _Steps, buffers: Sequence[Tensor | None]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._steps = steps
        self._buffers = buffers
        self._ordinal = 0
        self.placed: list[StorageWeakRef] = []
        """Storages of the buffers that were given out."""

    def make(self, func: OpOverload, args: Arguments, kwargs: Keywords) -> object:
        found = self._steps.get(self._ordinal)
        self._ordinal += 1
        if found is None or found[1].signature != _signature(func, args, kwargs):
            return func(*args, **kwargs)
        which, step = found
        buffer = self._buffers[which]
        assert buffer is not None
        if any(overlap(each, buffer) for each in _tensors(args, kwargs)):
            return func(*args, **kwargs)
        place = tensor_in(buffer, step.shape, step.strides, step.dtype)
        self.placed.append(weak_storage(place))
        step.write(place, args, kwargs)
        return place


def _watched(call: _Call, outputs: Outputs) -> tuple[_Steps, list[StorageWeakRef]]:
    """Watch a call: how each output can be placed, and the storages of what was returned."""
    with _Watching() as mode:
        returned = call()
    outputs.take(returned)
    values = list(returned) if isinstance(returned, tuple | list) else [returned]
    steps: _Steps = {}
    for which, (buffer, value) in enumerate(zip(outputs.places, values, strict=False)):
        if buffer is None or not _usable(buffer) or not _whole(value, buffer):
            continue
        ordinal, step = mode.makers.get(storage_id(value), (0, None))
        if step is not None:
            steps.setdefault(ordinal, (which, step))
    made = [value for value in values if _plain(value) and storage_id(value) in mode.makers]
    return steps, [weak_storage(each) for each in made]


def _usable(buffer: Tensor | None) -> bool:
    """Whether the buffer is like memory that PyTorch makes."""
    return (
        buffer is not None
        and buffer.numel() > 0
        and buffer.is_contiguous()
        and buffer.data_ptr() % ALIGNMENT == 0
    )


def _whole(value: object, buffer: Tensor) -> TypeGuard[Tensor]:
    """Whether the value fills its memory, element by element as in the buffer."""
    return (
        _plain(value)
        and value.device == buffer.device
        and value.is_contiguous()
        and value.storage_offset() == 0
        and value.untyped_storage().nbytes() == buffer.numel() * buffer.itemsize
    )


def _plain(value: object) -> TypeGuard[Tensor]:
    """Whether it is a tensor of numbers in memory, and of no subclass."""
    return isinstance(value, Tensor) and (
        type(value) in (Tensor, torch.nn.Parameter) and value.layout is torch.strided
    )


def _tensors(args: Arguments, kwargs: Keywords) -> list[Tensor]:
    return [each for each in tree_leaves((args, dict(kwargs))) if _plain(each)]


def _signature(func: OpOverload, args: Arguments, kwargs: Keywords) -> tuple[object, ...]:
    """The operation and what decides shape and type of its result; equal if they are alike."""
    return (func, *map(_described, tree_leaves((args, dict(kwargs)))))


def _described(leaf: object) -> object:
    if isinstance(leaf, Tensor):
        return tuple(leaf.shape), leaf.stride(), leaf.dtype, leaf.device
    return repr(leaf)  # a NaN is like another one


def _near(before: Tensor, after: Tensor) -> bool:
    if not (before.is_floating_point() or before.is_complex()):
        return torch.equal(before, after)
    both = (torch.split(x.view(-1), _PIECE) for x in (before, after))
    pieces = [*zip(*both, strict=True)]
    double = before.dtype in (torch.float64, torch.complex128)
    wide = torch.float64 if double else torch.float32
    sums = (x.abs().nan_to_num(0.0, 0.0, 0.0).sum(dtype=wide).item() for x, _ in pieces)
    atol = _NEAR * abs(sum(sums)) / before.numel()
    return all(torch.allclose(x, y, rtol=_NEAR, atol=atol, equal_nan=True) for x, y in pieces)
