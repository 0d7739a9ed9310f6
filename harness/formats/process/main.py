"""The process of one foreign problem: loads its files, and answers what the judge asks.

Runs confined (:mod:`harness.sandbox.init`). What is drawn is drawn on one thread, so that the same
seed gives the same each time; the reference takes all processors that it may. The files
are in its own folder, which ends with it.
"""

import os
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from harness.author.messages import AuthorFailed, AuthorOpened, OpenAuthor
from harness.author.source import line_of, no_memory
from harness.formats.messages import (
    REQUESTS,
    CannotBeGraded,
    CasesDescribed,
    CheckOutputs,
    DescribeCases,
    DrawInputs,
    DrawPiece,
    DrawWeights,
    ErrorMeasured,
    EvaluateReference,
    FilesLoaded,
    InputsDrawn,
    LoadFiles,
    MeasureError,
    OutputsChecked,
    PlacedTensor,
    ReferenceEvaluated,
    WeightsDrawn,
)
from harness.runner.strides import span
from harness.sandbox.syscalls import forbid_programs
from harness.wire import transport
from harness.wire.messages import MAX_TEXT, Answer, Message
from harness.wire.validation import WireError

if TYPE_CHECKING:
    from torch import Tensor

    from harness.formats.process.adaptor import Adaptor
    from harness.formats.process.place import Place

_ARCHITECTURE = 90
"""Of the card that files are told there is: most ask for none."""

_MESSAGE = 300
"""Characters of an exception's first line; torch's go on for pages."""


def main(channel: socket.socket, folder: Path) -> None:
    """Answer messages until the judge closes the channel."""
    author = ForeignAuthor(folder / "problem")
    while True:
        try:
            message, descriptors = transport.receive(channel, REQUESTS)
        except transport.Closed:
            return
        try:
            answer = author.answer(message, descriptors)
        except (Exception, SystemExit) as error:  # the author's code: anything can come
            answer = author.failed(error)
        finally:
            for fd in descriptors:
                os.close(fd)
        author.tidy()
        try:
            transport.send(channel, answer, most=transport.MAX_DESCRIPTION)
        except transport.Closed:
            return
        except WireError as error:
            transport.send(channel, CannotBeGraded(reason=f"it has too many tests: {error}"))


class ForeignAuthor:
    """State between messages: the loaded problem."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder
        self._loaded: Adaptor | None = None
        self._threads = 1
        self._drawn_there: dict[tuple[str, int, bool], bool] = {}
        """Where inputs were drawn that could have been drawn in another place: on the card?"""
        self._in_pieces: tuple[tuple[str, int, bool], Mapping[str, Tensor]] | None = None
        """Inputs that are being handed over piece by piece, and what was asked for."""

    def answer(self, message: Message, descriptors: list[int]) -> Answer:
        """Obey ``message``; whatever the author's code raises comes through."""
        if not isinstance(message, DrawPiece):
            self._in_pieces = None
        match message:
            case OpenAuthor():
                sys.path += message.path
                import torch

                from harness.formats.process.no_compiler import leave_compiler
                from harness.runner.triton.fake_cuda import install_fake_cuda

                leave_compiler()
                torch.set_num_threads(1)
                install_fake_cuda(_ARCHITECTURE)
                forbid_programs()
                return AuthorOpened()
            case LoadFiles():
                self._threads = message.threads
                if message.card:
                    _place().take_card(message.card)
                self._load(message, descriptors[0])
                return FilesLoaded()
            case DescribeCases():
                return self._described(small=message.small)
            case DrawInputs():
                drawn = self._drawn(message)
                with _room(descriptors[0], message.tensors, on_card=message.on_card) as room:
                    _write(room, message.tensors, drawn)
                return InputsDrawn()
            case DrawPiece():
                self._hand_over(message, descriptors[0])
                return InputsDrawn()
            case DrawWeights():
                made = self._weights(message)
                with _room(descriptors[0], message.weights, on_card=message.on_card) as room:
                    _write(room, message.weights, made)
                return WeightsDrawn()
            case EvaluateReference():
                case, weights = message.case, message.weights
                _place().draw_there(message.on_card)
                placed = (*message.inputs, *message.outputs)
                with _room(descriptors[0], placed, on_card=message.on_card) as room:
                    inputs = {each.name: _at(room, each) for each in message.inputs}
                    with _busy(self._threads):
                        right = self._problem.answers(
                            case, inputs, weights, small=message.small, own=message.own
                        )
                    _write(room, message.outputs, right)
                return ReferenceEvaluated()
            case MeasureError():
                from harness.formats.process.measure import relative_error

                case, small = message.case, message.small
                _place().draw_there(_place().fitted(self._describing(small=small)).on_card)
                with _place().keeping_answers():
                    relative = relative_error(self._problem, case, small=small)
                return ErrorMeasured(relative=relative)
            case CheckOutputs():
                _place().draw_there(message.on_card)
                placed = (*message.inputs, *message.outputs)
                with _room(descriptors[0], placed, on_card=message.on_card) as room:
                    inputs, outputs = (
                        {each.name: _at(room, each).clone() for each in those}
                        for those in (message.inputs, message.outputs)
                    )
                with _busy(self._threads):
                    said = self._problem.check(message.case, inputs, outputs, small=message.small)
                return OutputsChecked(right=said)
        raise WireError(f"{message.type} is no message for an author's process")

    def tidy(self) -> None:
        """Leave the card's memory to others between two messages."""
        if self._loaded is not None:
            _place().tidy()

    def failed(self, error: BaseException) -> Answer:
        """The answer for what loading the files, or asking them, has raised."""
        from harness.formats.process.adaptor import MistakeError, UngradableError

        if isinstance(error, UngradableError):
            return CannotBeGraded(reason=str(error)[:MAX_TEXT])
        if isinstance(error, ModuleNotFoundError):
            return CannotBeGraded(reason=_lacking(error)[:MAX_TEXT])
        if type(error).__name__ == "NotEmulated":
            return CannotBeGraded(reason=str(error)[:MAX_TEXT])
        line = line_of(error, self._file)
        if no_memory(error):
            return CannotBeGraded(reason="its reference takes more memory than it may here")
        text = str(error) if isinstance(error, MistakeError) else f"{type(error).__name__}: {error}"
        return AuthorFailed(line=line, message=(text.splitlines() or [""])[0][:_MESSAGE])

    def _drawn(self, message: DrawInputs) -> Mapping[str, "Tensor"]:
        """The tensors that a call reads, drawn where the message says."""
        if message.drawn_on_card and not message.on_card:
            return self._drawn_where_there_is_room(message)
        return self._drawn_in_place(message, on_card=message.drawn_on_card)

    def _drawn_where_there_is_room(self, message: DrawInputs | DrawPiece) -> Mapping[str, "Tensor"]:
        """The tensors that a call reads, drawn on the card if it is not too full for that.

        Else the processor draws them, then and whenever they are asked for again.
        """
        import torch

        key = message.case, message.seed, message.small
        was_on_card = self._drawn_there.get(key)
        if was_on_card is not False:
            try:
                found = self._drawn_in_place(message, on_card=True)
            except torch.OutOfMemoryError:
                if was_on_card:
                    raise
            else:
                self._drawn_there[key] = True
                return found
            _place().tidy()
        self._drawn_there[key] = False
        return self._drawn_in_place(message, on_card=False)

    def _drawn_in_place(
        self, message: DrawInputs | DrawPiece, *, on_card: bool
    ) -> Mapping[str, "Tensor"]:
        _place().draw_there(on_card)
        return self._problem.draw(message.case, message.seed, small=message.small)

    def _hand_over(self, message: DrawPiece, fd: int) -> None:
        """Write a piece of what was drawn for the first; the last has it let go of on a card."""
        key, piece = (message.case, message.seed, message.small), message.piece
        if self._in_pieces is None or self._in_pieces[0] != key:
            self._in_pieces = None
            self._in_pieces = key, self._drawn_where_there_is_room(message)
        whole = _checked(self._in_pieces[1].get(piece.name), piece.name, message.shape)
        stop = message.start + piece.shape[0]
        with _room(fd, (piece,), on_card=True) as room, _real():
            _at(room, piece).copy_(whole.reshape(-1)[message.start : stop])
            if stop == whole.numel() and whole.device.type != "cpu":  # is_cuda is pretended
                self._in_pieces = None

    def _weights(self, message: DrawWeights) -> Mapping[str, "Tensor"]:
        make = partial(self._problem.weights, message.seed, small=message.small)
        if not message.made_on_card:
            return make()
        _place().draw_there()
        return _place().drawn(make)

    def _described(self, *, small: bool) -> Answer:
        """The cases; what fails on the card is tried without, and then with sums in one order.

        What it has no room for is tried with less there before.
        """
        from harness.formats.process.adaptor import UngradableError

        while True:
            try:
                with _busy(self._threads):
                    return _place().fitted(self._describing(small=small))
            except Exception as error:
                if not _place().leave_card():
                    if self._threads == 1 or not isinstance(error, UngradableError):
                        raise
                    self._threads = 1
            _place().tidy()  # the error is gone, and the tensors of all that it came through

    def _describing(self, *, small: bool) -> "Callable[[], CasesDescribed]":
        return partial(self._problem.describe, small=small)

    @property
    def _problem(self) -> "Adaptor":
        if self._loaded is None:
            raise WireError("nothing is loaded")
        return self._loaded

    def _load(self, message: LoadFiles, fd: int) -> None:
        from harness.formats.process.adaptors import ADAPTORS

        with open(fd, "rb", closefd=False) as text:
            for each in message.files:
                path = self._folder / each.name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text.read(each.bytes))
        self._file = self._folder / message.files[0].name
        make: Callable[[Path], Adaptor] = ADAPTORS[message.format]
        self._loaded = make(self._file)


def _lacking(error: ModuleNotFoundError) -> str:
    """Which package is missing; of those that tell by an error of their own, what they say."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ModuleNotFoundError) and cause.name:
            return f"needs the package {cause.name}, which is not installed"
        cause = cause.__cause__ or cause.__context__
    return (
        f"a package that it needs cannot be imported here: {(str(error).splitlines() or [''])[0]}"
    )


@contextmanager
def _busy(threads: int) -> Iterator[None]:
    """Torch computes on so many threads meanwhile."""
    import torch

    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(1)


def _place() -> "Place":
    """Of this process; imported with torch, once it is there."""
    from harness.formats.process.place import PLACE

    return PLACE


def _room(
    fd: int, placed: Sequence[PlacedTensor], *, on_card: bool = False
) -> AbstractContextManager["Tensor"]:
    """The shared memory, mapped: all of its bytes."""
    import torch

    ends = (x.offset + getattr(torch, x.dtype).itemsize * span(x.shape, x.strides) for x in placed)
    return _place().memory(fd, max(ends, default=1), on_card=on_card)


def _at(room: "Tensor", each: PlacedTensor) -> "Tensor":
    """The tensor in the memory, to be read and written there."""
    import torch

    dtype = getattr(torch, each.dtype)
    bytes_ = dtype.itemsize * span(each.shape, each.strides)
    flat = room[each.offset : each.offset + bytes_].view(dtype)
    tensor = flat.as_strided(each.shape, each.strides)
    return tensor.view(getattr(torch, each.seen_as)) if each.seen_as else tensor


def _write(room: "Tensor", wanted: tuple[PlacedTensor, ...], found: Mapping[str, "Tensor"]) -> None:
    """Write what was found to the memory, once all of it is checked."""
    checked = [_checked(found.get(each.name), each.name, each.shape) for each in wanted]
    with _real():
        for each, tensor in zip(wanted, checked, strict=True):
            _at(room, each).copy_(tensor)


def _checked(tensor: "Tensor | None", name: str, shape: tuple[int, ...]) -> "Tensor":
    """The tensor, if it is there in this shape."""
    from harness.formats.process.adaptor import MistakeError

    if tensor is None or tuple(tensor.shape) != shape:
        now = "nothing" if tensor is None else tuple(tensor.shape)
        raise MistakeError(f"{name} is {now} now, and was {shape} before")
    return tensor


def _real() -> AbstractContextManager[None]:
    """Inside, the fake card has no say in what devices mean."""
    import torch

    return torch._C.DisableTorchFunction()
