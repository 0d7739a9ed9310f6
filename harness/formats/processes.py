"""The processes of foreign problems, a few of them, and what each said last."""

import atexit
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from hashlib import sha256

import torch
from torch import Tensor

from harness.author.client import AuthorError
from harness.errors import Diagnostic, ProblemError
from harness.formats.base import Source
from harness.formats.card import Card, Machine
from harness.formats.client import ForeignProcess, Ungradable
from harness.formats.description import Description, FormatCase, row_major
from harness.formats.kept import MOST_AHEAD
from harness.problem.terms import TensorSpec
from harness.text.plain import plain_lines

_FEWEST, _MOST, _BYTES_OF_EACH = 2, MOST_AHEAD + 1, 8 << 30
"""Processes that are kept: of what is built ahead and of the grade before it, if there is so much
memory for each. A process that waits takes a small part of that, about half a GiB of a card's; one
that is started again describes its problem again."""
_KEPT_BYTES = 1 << 30
"""Drawn inputs and answers that are kept, in all, but for the last."""
_KEPT_ON_CARD = 4 << 30
"""What the last may have where it takes a card's memory: there it is soon made again."""

Make = Callable[[ForeignProcess], dict[str, Tensor]]


class Problems:
    """Processes by problem, a few of them; what each said of its cases; what was asked last.

    Raises:
        ProblemError: from its methods: the problem's code is wrong, or took too much.
        Ungradable: likewise: it is of a kind that is not graded, or needs what is not here.
        MachineError: likewise: no process can be started.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes: OrderedDict[str, ForeignProcess] = OrderedDict()
        self._described: dict[tuple[str, bool], Description | Ungradable | ProblemError] = {}
        self._kept: OrderedDict[tuple[object, ...], dict[str, Tensor]] = OrderedDict()
        self._describing = threading.Lock()
        self._measured: dict[tuple[str, str, bool], Mapping[str, float] | Ungradable] = {}
        self._found: dict[tuple[str, bool], list[str]] = {}
        self._card: Card | None = None
        self._most = _FEWEST
        self._turns = threading.RLock()
        """Of who uses the card: taken before all other locks."""

    def compute_on(self, machine: Machine) -> None:
        """Have references compute on the machine's card; on the processor if it has none."""
        card = Card.of(machine)
        with self._turns:
            self._most = max(_FEWEST, min(_MOST, machine.free_bytes() // _BYTES_OF_EACH))
            if card != self._card:
                self._card = card
                self.close()
                self._described.clear()
                self._found.clear()
                self._kept.clear()

    @property
    def has_card(self) -> bool:
        """Whether references compute on one."""
        return self._card is not None

    def undisturbed(self) -> AbstractContextManager[object]:
        """While entered, no other thread has a reference computed on the card."""
        return self._turns

    def _turn(self) -> AbstractContextManager[object]:
        return nullcontext() if self._card is None else self._turns

    def described(self, source: Source, *, small: bool) -> Description:
        """The problem's cases, asked for once."""
        key = source.hash, small
        found = self._described.get(key)  # which needs no turn, if it is known
        if found is None:
            with self._turn(), self._describing:
                found = self._described.get(key) or self._asked(source, small=small)
                self._described[key] = found
        if isinstance(found, Exception):
            raise found.with_traceback(None)
        return found

    def _asked(self, source: Source, *, small: bool) -> Description | Ungradable | ProblemError:
        try:
            return self._of(source).describe(small=small)
        except Ungradable as reason:
            return reason
        except AuthorError as error:
            return _blamed(source, error)

    def drawn(
        self, source: Source, case: FormatCase, *, small: bool, seed: int
    ) -> Mapping[str, Tensor]:
        """The inputs of a call, not to be written to."""
        key = "drawn", source.hash, case.key, case.streamed, small, seed
        on_card = self.described(source, small=small).on_card
        return self._remembered(
            source,
            key,
            lambda one: one.draw(
                case, small=small, seed=seed, on_card=on_card, through_host=case.streamed
            ),
        )

    def comes_in_pieces(
        self, source: Source, case: FormatCase, spec: TensorSpec, *, small: bool
    ) -> bool:
        """Whether a tensor is drawn on a card that has no room for it twice, in one plain piece."""
        plain = not spec.seen_as and spec.strides == row_major(spec.shape)
        return plain and case.streamed and self.described(source, small=small).on_card

    def draw_to(
        self,
        out: Tensor,
        spec: TensorSpec,
        source: Source,
        case: FormatCase,
        *,
        small: bool,
        seed: int,
    ) -> None:
        """Write a tensor that comes in pieces to ``out``, with the values of :meth:`drawn`.

        What is remembered makes room for it on the card.
        """
        with self._lock:
            for key in [key for key, found in self._kept.items() if _on_card(found)]:
                del self._kept[key]

        def draw(one: ForeignProcess) -> dict[str, Tensor]:
            one.draw_to(out, spec, case, small=small, seed=seed)
            return {}

        self._asked_of(source, draw)

    def weights(
        self,
        source: Source,
        specs: Sequence[TensorSpec],
        *,
        small: bool,
        seed: int,
        on_host: bool,
        through_host: bool = False,
    ) -> Mapping[str, Tensor]:
        """These weights of a module made under a seed, not to be written to.

        ``on_host``: with the values that a submission's module has under it. Else those of one made
        where inputs are drawn, which may come ``through_host`` memory.
        """
        on_card = not on_host and self.described(source, small=small).on_card
        names = tuple(spec.name for spec in specs)
        key = "weights", source.hash, names, small, seed, on_card, through_host
        return self._remembered(
            source,
            key,
            lambda one: one.weights(
                specs, small=small, seed=seed, on_card=on_card, through_host=through_host
            ),
        )

    def right(
        self,
        source: Source,
        case: FormatCase,
        inputs: Mapping[str, Tensor],
        *,
        small: bool,
        weights: int,
        own: bool = False,
    ) -> Mapping[str, Tensor]:
        """The right outputs of a call, not to be written to; or the reference's ``own``.

        They lie where ``inputs`` are drawn, those of a case whose answers are the host's there.
        """
        on_card = self.described(source, small=small).on_card and not case.answers_on_host
        quicker = on_card or case.streamed  # to compute than to know large inputs again
        if not quicker:
            inputs = {name: tensor.cpu().contiguous() for name, tensor in inputs.items()}

        def ask(one: ForeignProcess) -> dict[str, Tensor]:
            return one.right(
                case, small=small, weights=weights, inputs=inputs, on_card=on_card, own=own
            )

        if quicker:
            return self._asked_of(source, ask)
        key = "right", own, source.hash, case.key, small, weights, _digest(inputs)
        return self._remembered(source, key, ask)

    def found(self, source: Source, claim: str, *, small: bool) -> None:
        """Remember what a call has shown of a problem, for the claims of all later results."""
        claims = self._found.setdefault((source.hash, small), [])
        if claim not in claims:
            claims.append(claim)

    def found_claims(self, source: Source, *, small: bool) -> tuple[str, ...]:
        """What calls have shown."""
        return tuple(self._found.get((source.hash, small), ()))

    def measured(self, source: Source, case: FormatCase, *, small: bool) -> Mapping[str, float]:
        """What each output may be off in a case, measured once."""
        key = source.hash, case.key, small
        if key not in self._measured:
            try:
                with self._turn():
                    self._measured[key] = self._of(source).measured(case, small=small)
            except Ungradable as reason:
                self._measured[key] = reason
            except AuthorError as error:
                raise _blamed(source, error) from None
        found = self._measured[key]
        if isinstance(found, Ungradable):
            raise found.with_traceback(None)
        return found

    def checked(
        self,
        source: Source,
        case: FormatCase,
        inputs: Mapping[str, Tensor],
        outputs: Mapping[str, Tensor],
        *,
        small: bool,
    ) -> bool:
        """What the format's own check says of a call's outputs."""
        on_card = self.described(source, small=small).on_card
        given, got = (
            {name: (x if on_card else x.cpu()).contiguous() for name, x in each.items()}
            for each in (inputs, outputs)
        )

        def ask(one: ForeignProcess) -> dict[str, Tensor]:
            said = one.check(case, small=small, inputs=given, outputs=got, on_card=on_card)
            return {"right": torch.tensor(said)}

        if on_card:  # checking is quicker than to know the tensors again
            return bool(self._asked_of(source, ask)["right"])
        key = "checked", source.hash, case.key, small, _digest(given), _digest(got)
        return bool(self._remembered(source, key, ask)["right"])

    def close(self) -> None:
        """End all processes."""
        for each in self._processes.values():
            each.close()
        self._processes.clear()

    def _remembered(
        self, source: Source, key: tuple[object, ...], make: Make
    ) -> Mapping[str, Tensor]:
        with self._lock:
            if (found := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return found
        made = self._asked_of(source, make)
        with self._lock:
            self._kept[key] = made
            while self._too_much_is_kept():
                self._kept.popitem(last=False)
        return made

    def _too_much_is_kept(self) -> bool:
        if _bytes(self._kept.values()) <= _KEPT_BYTES:
            return False
        last = self._kept[next(reversed(self._kept))]
        return len(self._kept) > 1 or (_on_card(last) and _bytes([last]) > _KEPT_ON_CARD)

    def _asked_of(self, source: Source, make: Make) -> dict[str, Tensor]:
        try:
            with self._turn():
                return make(self._of(source))
        except Ungradable:
            raise
        except AuthorError as error:
            raise _blamed(source, error) from None

    def _of(self, source: Source) -> ForeignProcess:
        with self._lock:
            process = self._processes.setdefault(source.hash, ForeignProcess(source, self._card))
            self._processes.move_to_end(source.hash)
            count = len(self._processes) - self._most
            old = [self._processes.popitem(last=False)[1] for _ in range(count)]
        for each in old:
            with each._lock:
                each.close()
        return process


def _on_card(kept: Mapping[str, Tensor]) -> bool:
    return any(tensor.is_cuda for tensor in kept.values())


def _bytes(kept: Iterable[Mapping[str, Tensor]]) -> int:
    return sum(tensor.nbytes for each in kept for tensor in each.values())


def _digest(tensors: Mapping[str, Tensor]) -> str:
    digest = sha256()
    for name in sorted(tensors):
        digest.update(name.encode())
        digest.update(tensors[name].reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _blamed(source: Source, error: AuthorError) -> ProblemError:
    return ProblemError(
        [Diagnostic(source.code or source.path, error.line, source.format, plain_lines(str(error)))]
    )


PROBLEMS = Problems()
"""Global, since all grades of a run share it, and the exit must close it."""

atexit.register(PROBLEMS.close)
