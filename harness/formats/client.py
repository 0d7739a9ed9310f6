"""The judge's side of a foreign problem's process: asks it for cases, inputs and answers."""

import os
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from torch import Tensor

from harness.author.client import MEMORY_BYTES, AuthorComplaint, AuthorProcess
from harness.formats.base import Source
from harness.formats.card import Card, HostRoom, settle
from harness.formats.description import Description, FormatCase, description
from harness.formats.messages import (
    ANSWERS,
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
    FileText,
    InputsDrawn,
    LoadFiles,
    MeasureError,
    OutputsChecked,
    PlacedTensor,
    ReferenceEvaluated,
    WeightsDrawn,
)
from harness.formats.placing import part_of, placed_tensors
from harness.problem.dtypes import DTYPES, DtypeKind
from harness.problem.terms import Direction, TensorSpec
from harness.sandbox import ROOT
from harness.sandbox.launch import Sandbox
from harness.sandbox.processors import usable_processors
from harness.text.plain import plain
from harness.wire.messages import Message

PROCESSOR_S = 600.0
"""Processor time that describing a problem, or one answer, may take on one processor."""

MOST_ERROR = 0.05
"""Measured, from which on a tolerance says nothing."""

_WIDE = {
    DtypeKind.FLOAT: "float64",
    DtypeKind.COMPLEX: "complex128",
    DtypeKind.INTEGER: "int64",
    DtypeKind.BOOLEAN: "int64",
}


class Ungradable(AuthorComplaint):
    """Why a problem cannot be graded here, in words."""

    def __init__(self, reason: str) -> None:
        super().__init__(1, plain(reason, 500))


class ForeignProcess(AuthorProcess):
    """The process of one problem; it never sees anything of a submission.

    References compute on the ``card``; without one, and where they cannot, on the processor.
    """

    entry = "harness.formats.process.main:main"
    readable = tuple(f"{ROOT}/harness/{room}" for room in ("author", "formats", "runner"))
    answers = ANSWERS
    preload = "harness.formats.process.preload:preload"

    def __init__(self, source: Source, card: Card | None = None) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._source = source
        self._card = card
        if card is not None:
            self.devices, self.variables = card.nodes, card.variables

    @property
    def memory_bytes(self) -> int:
        """Half of the machine's, where that is more than others get."""
        whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        return max(MEMORY_BYTES, whole // 2)

    @property
    def processor_s(self) -> float:
        """Processor time that one answer may take, of all processors together."""
        return PROCESSOR_S * usable_processors()

    def complaint(self, message: Message) -> AuthorComplaint | None:
        """What an answer complains of."""
        if isinstance(message, CannotBeGraded):
            return Ungradable(message.reason)
        return super().complaint(message)

    def describe(self, *, small: bool) -> Description:
        """The problem's cases; raises as :class:`~harness.formats.processes.Problems`."""
        with self._lock:
            told = self.ask(DescribeCases(small=small), CasesDescribed, ())
        return description(told, card=self._card is not None)

    def draw(
        self,
        case: FormatCase,
        *,
        small: bool,
        seed: int,
        on_card: bool = False,
        through_host: bool = False,
    ) -> dict[str, Tensor]:
        """All tensors that a call reads, in their own types.

        ``on_card`` they are drawn there, and lie there unless they come ``through_host`` memory.
        """
        read = [spec for spec in case.tensors if spec.direction is not Direction.OUT]
        placed, size = placed_tensors((spec.name, spec.dtype, spec) for spec in read)
        there = on_card and not through_host
        message = DrawInputs(
            case=case.key,
            small=small,
            seed=seed,
            tensors=placed,
            on_card=there,
            drawn_on_card=on_card,
        )
        return self._through_memory(message, InputsDrawn, {}, placed, size, on_card=there)

    def draw_to(
        self, out: Tensor, spec: TensorSpec, case: FormatCase, *, small: bool, seed: int
    ) -> None:
        """Write one tensor that a call reads to ``out``, dense and on the card, piece by piece.

        It is drawn on the card, where there is room for that, and comes through little memory.
        """
        assert self._card is not None
        flat = out.view(-1)
        count = min(flat.numel(), max(1, _PIECE_BYTES // out.element_size()))
        last = flat.numel() - count
        starts = (*range(0, last, count), last)  # of pieces of one size: the last two may overlap
        piece = PlacedTensor(
            name=spec.name, dtype=spec.dtype, shape=(count,), offset=0, strides=(1,)
        )
        room = self._card.room(count * out.element_size())
        try:
            for start in starts:
                message = DrawPiece(
                    case=case.key,
                    small=small,
                    seed=seed,
                    piece=piece,
                    shape=spec.shape,
                    start=start,
                )
                with self._lock:
                    self.ask(message, InputsDrawn, (room.fd,))
                flat[start : start + count].copy_(part_of(room.bytes, piece))
                settle(room.bytes)  # before the next one is written there
        finally:
            room.close()

    def weights(
        self,
        specs: Sequence[TensorSpec],
        *,
        small: bool,
        seed: int,
        on_card: bool = False,
        through_host: bool = False,
    ) -> dict[str, Tensor]:
        """These weights of a module made under a seed; ``on_card`` they have other values.

        They lie there then, unless they come ``through_host`` memory.
        """
        placed, size = placed_tensors((spec.name, spec.dtype, spec) for spec in specs)
        there = on_card and not through_host
        message = DrawWeights(
            small=small, seed=seed, weights=placed, on_card=there, made_on_card=on_card
        )
        return self._through_memory(message, WeightsDrawn, {}, placed, size, on_card=there)

    def right(
        self,
        case: FormatCase,
        *,
        small: bool,
        weights: int,
        inputs: Mapping[str, Tensor],
        on_card: bool = False,
        own: bool = False,
    ) -> dict[str, Tensor]:
        """The right outputs, in float64 and the like; or the reference's ``own``, as wide."""
        read = case.read
        written = case.compared
        wide = [(f"{_ANSWER}{s.name}", _WIDE[DTYPES[s.dtype].kind], s) for s in written]
        placed, size = placed_tensors([*((s.name, s.dtype, s) for s in read), *wide])
        given, answers = placed[: len(read)], placed[len(read) :]
        message = EvaluateReference(
            case=case.key,
            small=small,
            weights=weights,
            inputs=given,
            outputs=tuple(
                replace(each, name=s.name) for s, each in zip(written, answers, strict=True)
            ),
            on_card=on_card,
            own=own,
        )
        told = {each: inputs[each.name] for each in given}
        found = self._through_memory(
            message, ReferenceEvaluated, told, answers, size, on_card=on_card
        )
        return {s.name: found[f"{_ANSWER}{s.name}"] for s in written}

    def measured(self, case: FormatCase, *, small: bool) -> dict[str, float]:
        """What each output may be off, measured (:mod:`harness.formats.process.measure`)."""
        with self._lock:
            told = self.ask(MeasureError(case=case.key, small=small), ErrorMeasured, ())
        if not all(0 <= error <= MOST_ERROR for error in told.relative.values()):
            raise Ungradable("its results do not hold in float32: no tolerance can be measured")
        return told.relative

    def check(
        self,
        case: FormatCase,
        *,
        small: bool,
        inputs: Mapping[str, Tensor],
        outputs: Mapping[str, Tensor],
        on_card: bool = False,
    ) -> bool:
        """What the format's own check says of outputs in their own types."""
        read = [spec for spec in case.tensors if spec.direction is not Direction.OUT]
        answers = [(f"{_ANSWER}{s.name}", s.dtype, s) for s in case.compared]
        placed, size = placed_tensors([*((s.name, s.dtype, s) for s in read), *answers])
        given = {each: inputs[each.name] for each in placed[: len(read)]}
        got = {
            each: outputs[spec.name]
            for each, spec in zip(placed[len(read) :], case.compared, strict=True)
        }
        message = CheckOutputs(
            case=case.key,
            small=small,
            inputs=tuple(given),
            outputs=tuple(
                replace(each, name=s.name) for s, each in zip(case.compared, got, strict=True)
            ),
            on_card=on_card,
        )
        room = self._in_memory({**given, **got}, size, on_card=on_card)
        with room as (memory, _), self._lock:
            answer = self.ask(message, OutputsChecked, (memory,))
        assert isinstance(answer, OutputsChecked)
        return answer.right

    def load(self, sandbox: Sandbox) -> None:
        """Have the problem's files loaded."""
        files = self._source.files
        with tempfile.TemporaryFile() as text:
            for each in files:
                text.write(each.text)
            text.seek(0)
            message = LoadFiles(
                format=self._source.format,
                files=tuple(FileText(name=each.name, bytes=len(each.text)) for each in files),
                threads=usable_processors(),
                card="" if self._card is None else self._card.device,
            )
            self.exchange(sandbox, message, FilesLoaded, (text.fileno(),))

    def _through_memory(
        self,
        message: Message,
        expected: type[InputsDrawn | WeightsDrawn | ReferenceEvaluated],
        given: Mapping[PlacedTensor, Tensor],
        wanted: Iterable[PlacedTensor],
        size: int,
        *,
        on_card: bool = False,
    ) -> dict[str, Tensor]:
        """Ask with ``given`` tensors in shared memory, and take those that are ``wanted`` out.

        They are copies, but for large ones in the host's memory: these stay where they are, with
        all of that memory as long as one of them is held.
        """
        with self._in_memory(given, size, on_card=on_card) as (memory, whole):
            with self._lock:
                self.ask(message, expected, (memory,))
            found = {each.name: part_of(whole, each) for each in wanted}
            if not on_card and size >= _LARGE:
                return found
            return {name: tensor.clone() for name, tensor in found.items()}

    @contextmanager
    def _in_memory(
        self, given: Mapping[PlacedTensor, Tensor], size: int, *, on_card: bool = False
    ) -> Iterator[tuple[int, Tensor]]:
        """Shared memory with ``given`` tensors: its descriptor, and all of it."""
        if not on_card and size > self.memory_bytes:
            raise Ungradable(f"its tensors take {size >> 20} MiB")
        assert self._card is not None or not on_card
        room = self._card.room(size) if self._card and on_card else HostRoom(size)
        try:
            for place, tensor in given.items():
                part_of(room.bytes, place).copy_(tensor)
            if on_card:
                settle(room.bytes)
            yield room.fd, room.bytes
        finally:
            room.close()


_PIECE_BYTES = 1 << 28
"""Memory of the card through which tensors come piece by piece."""
_LARGE = 1 << 30
"""Bytes of shared memory from which on a second copy of it costs more than to hold all of it."""
_ANSWER = "="
"""Before the name of an answer, which an input may have as well."""
