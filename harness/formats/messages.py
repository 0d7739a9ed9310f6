"""What the judge and the process with a problem of a foreign format say to each other, in JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from harness.author.messages import AuthorFailed, AuthorOpened, OpenAuthor
from harness.wire.messages import Answer, Confined, Message
from harness.wire.validation import WireRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class FileText(WireRecord):
    """One file of the problem; its text follows those before it."""

    name: str
    """Its path inside the folder that all are put in."""
    bytes: int
    """The length of its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadFiles(Message):
    """Put the files into a folder, and load the first."""

    answers: ClassVar[tuple[str, ...]] = ("filesloaded",)
    descriptors: ClassVar[Mapping[str, str]] = {"text": "what they hold, one after the other"}
    format: str
    """Whose rules they follow."""
    files: tuple[FileText, ...]
    """The problem's first."""
    threads: int = 1
    """Processors that the reference and its check may keep busy."""
    card: str = ""
    """The torch device where references compute, where it is not the processor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesLoaded(Answer):
    """The file is loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeCases(Message):
    """Say what the problem's cases are."""

    answers: ClassVar[tuple[str, ...]] = ("casesdescribed", "cannotbegraded")
    small: bool
    """Whether they must be ones that an emulator can run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldParameter(WireRecord):
    """One parameter of the entry point."""

    name: str
    """An identifier."""
    ctype: str
    """C type of an element, or of the number."""
    kind: Literal["in", "out", "inout", "size", "scalar"]
    """Which way a tensor goes, or which sort of number it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldTensor(WireRecord):
    """One tensor of a case, without gaps."""

    name: str
    """The parameter's."""
    dtype: str
    """Torch's name of the element type."""
    shape: tuple[int, ...]
    """Elements along each dimension."""
    zeroed: bool = False
    """Whether an output is 0 before the call."""
    strides: tuple[int, ...] = ()
    """Elements from one index to the next of each dimension; none where it is row-major."""
    seen_as: str = ""
    """The narrow type that its bytes are seen as; empty for ``dtype``."""
    on_host: str = ""
    """Its bytes as hex digits, the same in all calls, where a submission on a card gets them in the
    host's memory; empty for others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldCase(WireRecord):
    """One set of arguments."""

    key: str
    """Its name: small letters, digits and `=`."""
    tensors: tuple[ToldTensor, ...]
    """One for each parameter that is one, in order."""
    numbers: dict[str, int | float]
    """The value of each other parameter."""
    timed: bool = False
    """Whether it is one of those whose times count."""
    construct: str = ""
    """JSON of a module's constructor arguments; empty where the entry point is no class."""
    call: str = ""
    """JSON of what the entry point is called with; empty where that is the parameters in order."""
    constants: str = ""
    """JSON of the file's constants that are smaller than in it; empty where none is."""
    loose: tuple[str, ...] = ()
    """Tensors among those that are read and written of which the contents after a call are free."""
    rtol: float | None = None
    """As the problem's, where this case has its own."""
    atol: float | None = None
    """Likewise."""
    own: bool = False
    """Whether the format's own check decides, asked for by :class:`CheckOutputs`."""
    by_rows: bool = False
    """Whether each row of what is compared follows from the same row of what is read, weights
    aside, so that some can be asked for; looked at where tensors are large."""
    rounded: bool = False
    """Whether the reference's answers are rounded to the outputs' types."""
    errors: dict[str, float] = field(default_factory=dict)
    """Of outputs of which the format's reference is itself off by more than its tolerance, what
    else an answer may be off, in units of the output's root mean square."""


WeightKind = Literal["drawn", "initial", "buffer", "changed"]
"""Whether a weight follows from the seed; or is a parameter, or a buffer, that is the same under
each; or a buffer that a call changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldWeight(WireRecord):
    """One parameter or buffer of the module that is the reference."""

    name: str
    """`self.` and its name in the module."""
    dtype: str
    """Torch's name of the element type."""
    shape: tuple[int, ...]
    """Elements along each dimension."""
    kind: WeightKind
    """What decides its values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CasesDescribed(Answer):
    """All that the judge needs to know."""

    parameters: tuple[ToldParameter, ...]
    """Of the entry point, in the order of the call."""
    cases: tuple[ToldCase, ...]
    """At least one."""
    rtol: float
    """Part of the right value that an answer may be off."""
    atol: float
    """What it may be off besides."""
    claims: tuple[str, ...]
    """What a reader of a result must know, `inputs: fixed`."""
    weights: tuple[ToldWeight, ...] = ()
    """All that the module holds; none where its calls cannot be given others."""
    on_card: bool = False
    """Whether inputs are drawn on the card, and go to and from memory of its."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CannotBeGraded(Answer):
    """Instead of any answer: the problem itself is of a kind that is not graded here."""

    reason: str
    """Why, in words; the judge cuts them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedTensor(WireRecord):
    """One tensor, and where it lies in the memory: without gaps."""

    name: str
    """The parameter's."""
    dtype: str
    """Torch's name of the element type."""
    shape: tuple[int, ...]
    """Elements along each dimension."""
    strides: tuple[int, ...]
    """Elements from one index to the next of each dimension."""
    offset: int
    """Its first byte."""
    seen_as: str = ""
    """The narrow type that the problem's code sees its bytes as; empty for ``dtype``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawInputs(Message):
    """Draw the tensors that a call reads, and write them to the memory."""

    answers: ClassVar[tuple[str, ...]] = ("inputsdrawn", "cannotbegraded")
    descriptors: ClassVar[Mapping[str, str]] = {"memory": "room for all tensors, sealed"}
    case: str
    """The case's key."""
    small: bool
    """As it was when cases were described."""
    seed: int
    """All that is random follows from it."""
    tensors: tuple[PlacedTensor, ...]
    """Where they belong."""
    on_card: bool = False
    """Whether the memory is the card's."""
    drawn_on_card: bool = False
    """Whether they are drawn there, wherever the memory is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawPiece(Message):
    """Write a piece of one tensor that a call reads to memory of the card.

    They are drawn for the first piece, and let go of after the last or with another message.
    """

    answers: ClassVar[tuple[str, ...]] = ("inputsdrawn", "cannotbegraded")
    descriptors: ClassVar[Mapping[str, str]] = {"memory": "of the card: room for the piece"}
    case: str
    """The case's key."""
    small: bool
    """As it was when cases were described."""
    seed: int
    """All that is random follows from it."""
    piece: PlacedTensor
    """Where it belongs, by the tensor's name: some of its elements in row-major order."""
    shape: tuple[int, ...]
    """The whole tensor's."""
    start: int
    """The first of these elements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputsDrawn(Answer):
    """All tensors, or the piece, lie in the memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawWeights(Message):
    """Make a module, and write what it holds to the memory."""

    answers: ClassVar[tuple[str, ...]] = ("weightsdrawn", "cannotbegraded")
    descriptors: ClassVar[Mapping[str, str]] = {"memory": "room for all tensors, sealed"}
    small: bool
    """As it was when cases were described."""
    seed: int
    """The seed under which it is made."""
    weights: tuple[PlacedTensor, ...]
    """Where they belong; all that were told of, or some."""
    on_card: bool = False
    """Whether the memory is the card's."""
    made_on_card: bool = False
    """Whether it is made there, with other values than on the processor, wherever the memory is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightsDrawn(Answer):
    """All weights lie in the memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateReference(Message):
    """Write the right outputs for the inputs in the memory."""

    answers: ClassVar[tuple[str, ...]] = ("referenceevaluated", "cannotbegraded")
    descriptors: ClassVar[Mapping[str, str]] = {"memory": "the inputs, and room for the outputs"}
    case: str
    """The case's key."""
    small: bool
    """As it was when cases were described."""
    weights: int
    """The seed under which a module is made."""
    inputs: tuple[PlacedTensor, ...]
    """What a call reads, as the submission gets it; weights too, where calls have their own. Some
    rows of a case that goes by rows."""
    outputs: tuple[PlacedTensor, ...]
    """Where the answers belong, in wide types; some of a case's outputs, or all."""
    on_card: bool = False
    """Whether the memory is the card's."""
    own: bool = False
    """Whether they are the reference's own, in its own types, and not as exact as can be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceEvaluated(Answer):
    """All outputs lie in the memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureError(Message):
    """Say how far off honest kernels may be that compute in float32."""

    answers: ClassVar[tuple[str, ...]] = ("errormeasured", "cannotbegraded")
    case: str
    """The case's key."""
    small: bool
    """As it was when cases were described."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorMeasured(Answer):
    """It is measured."""

    relative: dict[str, float]
    """For each output, in units of the larger of an element and the output's root mean square."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOutputs(Message):
    """Have the format's own check look at outputs in the memory."""

    answers: ClassVar[tuple[str, ...]] = ("outputschecked", "cannotbegraded")
    descriptors: ClassVar[Mapping[str, str]] = {"memory": "inputs and outputs, not written to"}
    case: str
    """The case's key."""
    small: bool
    """As it was when cases were described."""
    inputs: tuple[PlacedTensor, ...]
    """What a call reads, as the submission got it."""
    outputs: tuple[PlacedTensor, ...]
    """What it has written, in the outputs' own types."""
    on_card: bool = False
    """Whether the memory is the card's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputsChecked(Answer):
    """What the check says."""

    right: bool
    """Whether they are."""


REQUESTS: Mapping[str, type[Message]] = {
    message.type: message
    for message in (
        *(OpenAuthor, LoadFiles, DescribeCases, DrawInputs, DrawPiece, DrawWeights),
        *(EvaluateReference, MeasureError, CheckOutputs),
    )
}
"""What the process is asked, by type."""

ANSWERS: Mapping[str, type[Message]] = {
    message.type: message
    for message in (
        *(Confined, AuthorOpened, FilesLoaded, CasesDescribed, InputsDrawn, WeightsDrawn),
        *(ReferenceEvaluated, ErrorMeasured, OutputsChecked, AuthorFailed, CannotBeGraded),
    )
}
"""What it may send, by type."""
