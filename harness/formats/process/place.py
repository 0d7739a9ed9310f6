"""Where references compute: on the processor, or on the judge's card where it has one.

Inputs and weights are made on the processor in either case, so that a seed gives the same. What a
reference makes while it computes is made where it computes, whatever device it names.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._device import _device_constructors

from harness.formats.process.cutting import names_device

Moved = Callable[[Any], Any]
"""A tensor or module in the place where is computed."""


class Place:
    """The place of one process. Until :meth:`take_card` it is the processor."""

    def __init__(self) -> None:
        self._card = False

    def take_card(self) -> None:
        """Compute on the card from now on, with torch's settings but for what may vary."""
        self._card = True
        torch.backends.cudnn.deterministic = True

    def leave_card(self) -> bool:
        """Compute on the processor from now on; whether that is another place."""
        left, self._card = self._card, False
        return left

    def compute(self, reference: Callable[[Moved], Mapping[str, Tensor]]) -> dict[str, Tensor]:
        """What ``reference`` returns, on the processor; it is told how to move what it is given.

        What fails on the card is computed on the processor. If that does not fail, all is from then
        on, unless the card's memory was too small. What a reference raises comes through.
        """
        if not self._card or torch.get_default_device().type == "meta":  # of shapes alone
            return dict(reference(_to_processor))
        try:
            with _on_card():
                found = reference(lambda each: each.to(_CARD))
            return {name: x.detach().to("cpu") for name, x in found.items()}
        except Exception as error:
            error.__traceback__ = None  # its frames hold tensors
            lasting = not isinstance(error, torch.OutOfMemoryError)
        finally:
            with suppress(RuntimeError):  # it has failed for good
                torch.cuda.memory.empty_cache()
        right = dict(reference(_to_processor))
        self._card = self._card and not lasting
        return right


PLACE = Place()
"""Global: a process loads one problem."""

_CARD = torch.device("cuda", 0)
_STAYING = (torch.Tensor.cuda, torch.Tensor.cpu, torch.Tensor.pin_memory)


@contextmanager
def _on_card() -> Iterator[None]:
    """Whatever names a device, or makes a tensor and names none, means the card inside.

    Operations take the deterministic one of their ways, where they have it.
    """
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        with _OnCard():
            yield
    finally:
        torch.use_deterministic_algorithms(before)


class _OnCard(TorchFunctionMode):
    """The opposite of :mod:`harness.runner.triton.fake_cuda`, which is not asked meanwhile."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if func in _STAYING:
            return args[0]
        named = {key: _to_card(value) for key, value in (kwargs or {}).items()}
        if func in _device_constructors() and named.get("device") is None:
            named["device"] = _CARD
        with torch._C.DisableTorchFunction():
            if func is torch.Tensor.numpy:
                return args[0].cpu().numpy()
            return func(*map(_to_card, args), **named)


def _to_processor(each: Any) -> Any:
    return each.to("cpu")


def _to_card(value: Any) -> Any:
    return _CARD if names_device(value) and torch.device(value).type != "meta" else value
