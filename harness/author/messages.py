"""What the judge and the process with an author's file say to each other, in JSON."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from harness.wire.messages import Answer, Confined, Message
from harness.wire.validation import WireRecord

Kind: TypeAlias = Literal["float", "integer", "complex"]
"""What a tensor holds."""

WIDE_NAMES: Mapping[Kind, str] = {"float": "float64", "integer": "int64", "complex": "complex128"}
"""Kind of a tensor → torch's name of the element type it travels as."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAuthor(Message):
    """Import torch; nothing of the author's has run, so a fault until here is the machine's."""

    answers: ClassVar[tuple[str, ...]] = ("authoropened",)
    path: tuple[str, ...]
    """Where packages are found, for `sys.path`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorOpened(Answer):
    """torch is imported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadFile(Message):
    """Load the author's file."""

    answers: ClassVar[tuple[str, ...]] = ("fileloaded",)
    descriptors: ClassVar[Mapping[str, str]] = {"text": "what it holds"}
    file: str
    """Its absolute path, which this user may not be allowed to open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLoaded(Answer):
    """The file is loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedTensor(WireRecord):
    """One tensor to be drawn, and where it is to lie in the memory."""

    name: str
    """The parameter's."""
    kind: Kind
    """Its element type."""
    shape: tuple[int, ...]
    """Elements along each dimension."""
    offset: int
    """Its first byte."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawTensors(Message):
    """Call `draw` of the file, and write what it returns to the memory, dense."""

    answers: ClassVar[tuple[str, ...]] = ("tensorsdrawn",)
    descriptors: ClassVar[Mapping[str, str]] = {"memory": "room for all tensors, sealed"}
    seed: int
    """Of the generator."""
    family: str
    """The family of values."""
    values: dict[str, int | float]
    """Sizes and scalars by name."""
    tensors: tuple[WantedTensor, ...]
    """All that it must return."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorsDrawn(Answer):
    """All tensors lie in the memory."""

    line: int
    """Where the function begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorFailed(Answer):
    """Instead of `fileloaded` or `tensorsdrawn`: what is wrong with the file."""

    line: int
    """Of the file; 1 where none is known."""
    message: str
    """In words; the judge cuts them."""


REQUESTS: Mapping[str, type[Message]] = {
    message.type: message for message in (OpenAuthor, LoadFile, DrawTensors)
}
"""What the process is asked, by type."""

ANSWERS: Mapping[str, type[Message]] = {
    message.type: message
    for message in (Confined, AuthorOpened, FileLoaded, TensorsDrawn, AuthorFailed)
}
"""What it may send, by type."""
