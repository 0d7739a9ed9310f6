"""Makes torch on a machine without a GPU answer like one with a card.

Solutions written for CUDA pass ``device="cuda"``, assert ``x.is_cuda`` and ask ``torch.cuda`` for
the number of multiprocessors. :func:`install_fake_cuda` answers those few questions and keeps every
tensor on the CPU, so that the same file runs here and on a card. What it cannot honestly imitate
(streams, events, graphs) raises :class:`NotEmulated`, which ends as "not executable here".

``tensor.device`` stays ``cpu``: torch offers no way to lie about it. ``torch.compile`` leaves a
function as it is: what it would generate is code for a card.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, NoReturn

import torch
from torch.overrides import TorchFunctionMode

from harness.runner.scaled_products import scaled_product


class NotEmulated(Exception):
    """The submission needs what this machine cannot imitate; no fault of the submission's."""


MULTIPROCESSORS = 132
"""Of the fake card, as of an H100."""

_SHARED_BYTES = {75: 65536} | dict.fromkeys((80, 87), 166912)
_SHARED_BYTES |= dict.fromkeys((86, 89, 120, 121), 101376)


def shared_bytes(arch: int) -> int:
    """Shared memory that a block may have on a card of ``arch`` (90 for sm_90): 227 KiB if new."""
    return _SHARED_BYTES.get(arch, 232448)


class _OnCpu(TorchFunctionMode):
    """Sends every torch call that names a CUDA device to the CPU."""

    def __torch_function__(
        self,
        func: Callable[..., object],
        types: Sequence[type],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        if func in _STAYING:
            return args[0]
        named = {key: _to_cpu(value) for key, value in (kwargs or {}).items()}
        if named.get("pin_memory"):
            named["pin_memory"] = False
        if type(named.get("device")) is int:
            named["device"] = "cpu"
        if func is torch.Tensor.to and len(args) > 1 and type(args[1]) is int:
            args = (args[0], "cpu", *args[2:])
        call = _widened(func) if func in _PRODUCTS else COMPUTED.get(func, func)
        return call(*(_to_cpu(arg) for arg in args), **named)


COMPUTED: Mapping[object, Callable[..., Any]] = {torch._scaled_mm: scaled_product}
"""What torch computes on a few cards alone, and what stands for it on others and on processors."""
_STAYING = (torch.Tensor.cuda, torch.Tensor.pin_memory)
_PRODUCTS = {torch.mm: 2, torch.bmm: 2, torch.addmm: 3, torch.baddbmm: 3}
"""Products that may have a wider type than their factors on a card alone: their tensors."""


def _widened(func: Callable[..., object]) -> Callable[..., object]:
    """``func``, one of the products, with ``out_dtype``: what is exact in it is summed in it."""
    count = _PRODUCTS[func]

    def call(*args: object, out_dtype: torch.dtype | None = None, **named: object) -> object:
        if len(args) > count:
            out_dtype, args = args[count], args[:count]  # type: ignore[assignment]
        if out_dtype is None:
            return func(*args, **named)
        return func(
            *(_wide(each, out_dtype) for each in args),
            **{name: _wide(each, out_dtype) for name, each in named.items() if name != "out"},
            **{name: each for name, each in named.items() if name == "out"},
        )

    return call


def _wide(value: object, dtype: torch.dtype) -> object:
    return value.to(dtype) if isinstance(value, torch.Tensor) else value


def _to_cpu(value: object) -> object:
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device("cpu")
    if isinstance(value, str) and re.fullmatch(r"cuda(:\d+)?", value):
        return "cpu"
    return value


def refuse(message: str) -> Callable[..., NoReturn]:
    """Make a function that raises :class:`NotEmulated` whatever it is called with."""

    def refused(*_args: object, **_kwargs: object) -> NoReturn:
        raise NotEmulated(message)

    return refused


def install_fake_cuda(arch: int) -> None:
    """Make torch in this process answer like one with a single card; there is no way back."""
    name, capability = f"pretended sm_{arch}", divmod(arch, 10)
    properties = SimpleNamespace(
        name=name,
        major=capability[0],
        minor=capability[1],
        total_memory=80 << 30,
        multi_processor_count=MULTIPROCESSORS,
        warp_size=32,
        regs_per_multiprocessor=65536,
        shared_memory_per_block=49152,
        shared_memory_per_block_optin=shared_bytes(arch),
        max_threads_per_multi_processor=2048,
        L2_cache_size=50 << 20,
    )
    stream = SimpleNamespace(
        cuda_stream=0, synchronize=_doing_nothing(), device=torch.device("cpu")
    )
    answers: dict[str, object] = {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "device": lambda *_: nullcontext(),
        "stream": lambda *_: nullcontext(),
        "current_stream": lambda *_: stream,
        "default_stream": lambda *_: stream,
        "get_device_name": lambda *_: name,
        "get_device_capability": lambda *_: capability,
        "get_device_properties": lambda *_: properties,
    }
    for immediate in ("set_device", "set_stream", "synchronize", "empty_cache"):
        answers[immediate] = _doing_nothing()
    for missing in ("Stream", "Event", "CUDAGraph", "graph"):
        refused = refuse(f"torch.cuda.{missing} needs a GPU")
        answers[missing] = type(missing, (), {"__init__": refused})
    for asked, answer in answers.items():
        setattr(torch.cuda, asked, answer)
    torch.compile = _as_it_is  # type: ignore[assignment]
    torch.Tensor.record_stream = _doing_nothing()  # type: ignore[method-assign]
    torch.Tensor.is_cuda = property(lambda _: True)  # type: ignore[assignment]
    _OnCpu().__enter__()  # type: ignore[no-untyped-call]


def _doing_nothing() -> Callable[..., None]:
    """A function, each time another (torch wants them apart), that returns at once.

    Everything is synchronous here.
    """
    return lambda *_args, **_kwargs: None


def _as_it_is(
    model: Callable[..., object] | None = None, **_options: object
) -> Callable[..., object]:
    """Replace ``torch.compile``, with and without options."""
    return model if model is not None else lambda function: function
