"""Where references compute: on the processor, or on the judge's card where it has one.

Weights that must equal those of a submission's module are made on the processor in either case.
Inputs, and weights of a call's own, are made on the card where an adaptor asks for it. What a
reference makes while it computes is made where it computes, whatever device it names.
"""

import gc
import mmap
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from traceback import clear_frames
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._device import _device_constructors

from harness.formats.process.cutting import TooMuchError, names_device
from harness.formats.process.modes import CutFactors, deterministic
from harness.runner.driver import Driver
from harness.runner.memory import ImportedDeviceArena, card_bytes
from harness.runner.triton.fake_cuda import COMPUTED

Moved = Callable[[Any], Any]
"""A tensor or module in the place where is computed."""
Reference = Callable[[Moved], Mapping[str, Tensor]]
"""Computes outputs, by name; it is told how to move what it needs."""
MadeT = TypeVar("MadeT")

_PROCESSOR = torch.device("cpu")
_PARTS = (8, 64)
"""In how many parts rows are computed where a card has no room for all."""
_SAME_PARTS = _PARTS[-1:]
"""Likewise, where answers are compared with those of another call: sums are in the same order."""


@dataclass(frozen=True, slots=True)
class Rows:
    """A reference whose outputs have so many rows, each computed from the same row of inputs."""

    count: int
    of: Callable[[slice], Reference]
    """The reference of some of them."""


class Place:
    """The place of one process. Until :meth:`take_card` it is the processor.

    ``draws`` says whether inputs are drawn on the card; who draws sets it, and all that is drawn
    for one problem is drawn in one place.
    """

    def __init__(self) -> None:
        self._card: torch.device | None = None
        self._driver: Driver | None = None
        self.draws = False
        self._counted_on = False
        """Whether inputs were drawn on the card, so that the judge keeps calls there."""
        self.why_left = ""
        """What a reference raised on the card, which was left for it."""
        self._stands_in = False
        """Whether the processor computes for a card that was left."""
        self._apart = False
        """Whether the card has no room for answers beside inputs and what is computed."""
        self._crowded = False
        """Whether it has none for inputs either."""
        self._describing = False
        self._keeping = False
        """Whether answers are kept, to be compared with those of another call."""

    def take_card(self, name: str) -> None:
        """Compute on the card from now on, with torch's settings but for what may vary."""
        with torch._C.DisableTorchFunction():  # or the fake card would make it the processor
            self._card = torch.device(name)
        torch.backends.cudnn.deterministic = True

    def leave_card(self) -> bool:
        """Do everything on the processor from now on; whether that is another place."""
        left, self._card, self.draws, self._counted_on = self._card, None, False, False
        self._stands_in |= left is not None
        return left is not None

    def fitted(self, describe: Callable[[], MadeT], *, apart: bool = False) -> MadeT:
        """What ``describe`` returns, which draws inputs and compares answers of several calls.

        What the card has no room for is tried with the inputs drawn elsewhere; before, if answers
        may lie ``apart`` from inputs, with these in the host's memory. Else, whatever is raised
        comes through.
        """
        while True:
            try:
                with self._described(), self.keeping_answers() if apart else nullcontext():
                    return describe()
            except torch.OutOfMemoryError:
                if not self._keep_less(apart=apart):
                    raise
            gc.collect()  # what is in a circle may hold tensors
            self.tidy()  # the error is gone, and the tensors of all that it came through

    def _keep_less(self, *, apart: bool) -> bool:
        """Keep less on the card from now on, since it had no room; whether less can be kept."""
        if not self.draws:
            return False
        self._apart, self._crowded = apart, self._apart or not apart
        return True

    @contextmanager
    def _described(self) -> Iterator[None]:
        """Inside, what a card has no room for beside inputs that are drawn there is an error."""
        before, self._describing = self._describing, True
        try:
            yield
        finally:
            self._describing = before

    @contextmanager
    def keeping_answers(self) -> Iterator[None]:
        """Inside, answers are kept beside inputs: in the host's memory, if the card is too small.

        Whoever enters it compares answers with each other alone.
        """
        before, self._keeping = self._keeping, True
        try:
            yield
        finally:
            self._keeping = before

    @property
    def keeps_apart(self) -> bool:
        """Whether answers go to the host's memory though inputs are drawn on the card."""
        return self._apart and self._keeping and self.draws

    def set_aside(self, tensor: Tensor) -> Tensor:
        """A tensor that is kept to be compared with another: there where answers are kept."""
        return _to(tensor, _PROCESSOR) if self.keeps_apart else tensor

    def draw_there(self, wanted: bool = True) -> None:
        """Draw inputs on the card from now on, if there is one; or on the processor."""
        self.draws = wanted and self._card is not None and not self._crowded
        self._counted_on |= self.draws

    def draw_there_if(self, draw: Callable[[], object]) -> None:
        """Draw inputs on the card from now on, if there is one and ``draw`` does not fail there."""
        self.draw_there()
        try:
            if self.draws:
                draw()
        except Exception:
            self.draw_there(False)

    @contextmanager
    def on_processor(self) -> Iterator[None]:
        """Inputs are drawn on the processor inside."""
        before, self.draws = self.draws, False
        try:
            yield
        finally:
            self.draws = before

    @property
    def has_card(self) -> bool:
        """Whether there is a card to compute on."""
        return self._card is not None

    @property
    def drawing(self) -> torch.device:
        """Where inputs are drawn now; what has shapes alone is made nowhere."""
        if self._card is None or not self.draws or torch.get_default_device().type == "meta":
            return _PROCESSOR
        return self._card

    def drawn(self, draw: Callable[[], MadeT]) -> MadeT:
        """What ``draw`` returns; what it makes is made where inputs are drawn."""
        where = self.drawing
        if where is _PROCESSOR:
            return draw()
        with _on_card(where):
            return draw()

    def with_inputs(self, tensor: Tensor) -> Tensor:
        """A tensor where inputs are drawn."""
        where = self.drawing
        return tensor if where is _PROCESSOR else _to(tensor, where)

    def compute(
        self, reference: Reference, rows: Callable[[], Rows | None] = lambda: None
    ) -> dict[str, Tensor]:
        """What ``reference`` returns, there where inputs are drawn, or where answers are kept.

        What the card has no room for is computed there a part of the ``rows`` at a time, if it has
        such. What fails there is computed on the processor, with factors as coarse as on the card.
        If that does not fail, all is from then on, unless the card's memory was too small; if it
        does, what the reference raised on the card comes through.
        """
        card = self._card
        if torch.get_default_device().type == "meta":  # of shapes alone
            return dict(reference(to_processor))
        if card is None:
            return self._on_processor(reference, stands_in=self._stands_in)
        apart = self.keeps_apart
        back = card if self.draws and not apart else _PROCESSOR
        if apart and (joined := self._by_rows(rows(), card, back, _SAME_PARTS)) is not None:
            return joined
        try:
            with _on_card(card):
                found = reference(lambda each: each.to(card))
            return {name: _to(x.detach(), back) for name, x in found.items()}
        except Exception as error:
            clear_frames(error.__traceback__)  # they hold tensors
            # And this one would, in a circle with the error, and through it all of its callers'.
            failed = error.with_traceback(None)
            lasting = not isinstance(error, torch.OutOfMemoryError)
        finally:
            self.tidy()
        if not lasting:
            if not apart and (joined := self._by_rows(rows(), card, back)) is not None:
                return joined
            if self._describing and self.draws:
                raise torch.OutOfMemoryError("the card has no room for inputs and answers")
        try:
            right = self._on_processor(reference, stands_in=True)
        except Exception as error:
            if lasting and not isinstance(error, TooMuchError):
                raise failed from error
            raise
        if lasting and not self._counted_on:
            self.leave_card()
            self.why_left = f"{type(failed).__name__}: {failed}"
        return {name: _to(x.detach(), back) for name, x in right.items()}

    def tried(self, reference: Reference) -> dict[str, Tensor]:
        """What ``reference`` returns of a few rows, say, in the host's memory.

        What fails on the card, or finds no room there, is computed on the processor, which changes
        nothing of where is computed later.
        """
        if self._card is not None:
            try:
                with _on_card(self._card):
                    found = reference(lambda each: each.to(self._card))
                return {name: _to(x.detach(), _PROCESSOR) for name, x in found.items()}
            except Exception as error:
                clear_frames(error.__traceback__)  # they hold tensors
            finally:
                self.tidy()
        return self._on_processor(reference, stands_in=False)

    def _by_rows(
        self,
        rows: Rows | None,
        card: torch.device,
        back: torch.device,
        in_parts: Sequence[int] = _PARTS,
    ) -> dict[str, Tensor] | None:
        """All rows, computed on the card part by part; None where there is no room for that."""
        if rows is None:
            return None
        for parts in in_parts:
            some = -(-rows.count // parts)
            joined: dict[str, Tensor] = {}
            try:
                for start in range(0, rows.count, some):
                    with _on_card(card):
                        found = rows.of(slice(start, start + some))(lambda each: each.to(card))
                    for name, part in found.items():
                        if name not in joined:
                            joined[name] = _empty((rows.count, *part.shape[1:]), part.dtype, back)
                        joined[name][start : start + some] = part.detach()
                return joined
            except torch.OutOfMemoryError as error:
                error.__traceback__ = None  # its frames hold tensors
            finally:
                self.tidy()
        return None

    def _on_processor(self, reference: Reference, *, stands_in: bool) -> dict[str, Tensor]:
        with CutFactors() if stands_in else nullcontext():
            return dict(reference(to_processor))

    def tidy(self) -> None:
        """Give memory that is not in use back to the card, also to one that was left."""
        with suppress(RuntimeError):  # it has failed for good
            torch.cuda.memory.empty_cache()

    @contextmanager
    def memory(self, fd: int, size: int, *, on_card: bool) -> Iterator[Tensor]:
        """The memory that the judge shares by its descriptor, ``size`` bytes at least: uint8."""
        card = self._card
        if not on_card or card is None or card.type != "cuda":
            yield torch.frombuffer(mmap.mmap(fd, 0), dtype=torch.uint8)
            return
        driver = self._driver = self._driver or Driver(card.index or 0)
        unit = driver.granularity()
        imported = ImportedDeviceArena(driver, os.dup(fd), -(-size // unit) * unit)
        try:
            with torch._C.DisableTorchFunction():
                whole = torch.as_tensor(card_bytes(imported.address, imported.size), device=card)
            yield whole
            driver.synchronize()
        finally:
            imported.close()


PLACE = Place()
"""Global: a process loads one problem."""

_STAYING = (torch.Tensor.cpu, torch.Tensor.pin_memory)


@contextmanager
def _on_card(card: torch.device) -> Iterator[None]:
    """Whatever names a device, or makes a tensor and names none, means the card inside.

    Operations take the deterministic one of their ways, where they have it.
    """
    with deterministic(), _OnCard(card):
        yield


class _OnCard(TorchFunctionMode):
    """The opposite of :mod:`harness.runner.triton.fake_cuda`, which is not asked meanwhile."""

    def __init__(self, card: torch.device) -> None:
        super().__init__()
        self._card = card

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if func in _STAYING:
            return args[0]
        if func is torch.Tensor.cuda:
            return _to(args[0], self._card)
        named = {key: self._there(value) for key, value in (kwargs or {}).items()}
        if func in _device_constructors() and named.get("device") is None:
            named["device"] = self._card
        with torch._C.DisableTorchFunction():
            if func is torch.Tensor.numpy:
                return args[0].cpu().numpy()
            call = COMPUTED.get(func, func)
            return call(*map(self._there, args), **named)

    def _there(self, value: Any) -> Any:
        return self._card if names_device(value) and torch.device(value).type != "meta" else value


def to_processor(each: Any) -> Any:
    """A tensor or module in the host's memory."""
    return each.to("cpu")


def in_host_memory(tensor: Tensor) -> Tensor:
    """A tensor in the host's memory, whatever the fake card would have that mean."""
    return _to(tensor, _PROCESSOR)


def _empty(shape: Sequence[int], dtype: torch.dtype, device: torch.device) -> Tensor:
    """A new tensor on ``device``, as :func:`_to` means it."""
    with torch._C.DisableTorchFunction():
        return torch.empty(shape, dtype=dtype, device=device)


def _to(tensor: Tensor, device: torch.device) -> Tensor:
    """``tensor`` on ``device``, whatever the fake card would have it mean."""
    with torch._C.DisableTorchFunction():
        return tensor.to(device)
