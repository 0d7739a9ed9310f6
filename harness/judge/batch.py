"""A batch of calls laid out in one arena: filled, fenced, and checked to the last byte.

Every tensor parameter has one buffer per call, all calls of a parameter side by side, each followed
by a guard band. A tensor with strides has gaps inside its buffer; they are guards, too. One call is
a batch of one: correctness and timing go the same way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from harness.device.base import Arena
from harness.judge.checker import Checker
from harness.judge.compare import compare_all
from harness.judge.contents import Contents
from harness.judge.digest import Digest
from harness.judge.guards import first_stray
from harness.judge.layout import BufferLayout, lay_out
from harness.judge.noted import Noted
from harness.judge.own_copy import OwnCopy, has_room
from harness.judge.receipt import Receipt
from harness.judge.task import Task
from harness.judge.unset import returned_hint, unset_hint
from harness.problem.case import Case
from harness.problem.gradable import InputSource
from harness.problem.terms import Construction, Expectation, Role, Streamed
from harness.records.cases import Mismatch
from harness.session.reported import Returned
from harness.wire.arguments import ScalarArgument, TensorArgument


@dataclass(frozen=True, slots=True)
class BatchMismatch:
    """The first fault found after a batch ran, in ``call`` (from 0).

    ``mismatch`` is that of a wrong output; None where something else was written.
    """

    call: int
    message: str
    mismatch: Mismatch | None = None


class Batch:
    """Some calls of one case in an arena: filled, and checked after they ran.

    All inputs get values never seen before. Unless the batch is not ``checked``, every output is
    checked against the reference, inputs against a keyed digest of what they were, guards and gaps
    against the bytes that they are made of. Filling and checking take slices of bounded size beside
    the arena, and what the reference needs for one call. The values of a ``portable`` batch (a
    correctness case) are drawn on the CPU, so that they are the same on every machine, and where
    there is room they are kept where no submission can write to them (:class:`OwnCopy`): work that
    it has left on the device might change them before a digest is taken, and with them the right
    answers. Around timed batches probes show such work. The values of a timed batch are drawn on
    the device; unless its calls are ``alike`` (a profile) a few of them have another family of
    values (:mod:`harness.judge.timed_families`). A ``checker`` shared by batches may know the shape
    already; ``inputs`` draws values, the problem's own source without.

    :meth:`inputs`, :meth:`outputs` and :meth:`check` need no runner: ``harness verify`` writes
    outputs where a submission would and has them judged in the same way.
    """

    def __init__(
        self,
        task: Task,
        case: Case,
        arena: Arena,
        calls: int,
        *,
        portable: bool = False,
        checked: bool = True,
        alike: bool = False,
        checker: Checker | None = None,
        inputs: InputSource | None = None,
    ) -> None:
        self.case = case
        self._checker = checker or Checker(task)
        self.checked = checked
        self.layout = lay_out(task, case, calls, portable=portable)
        self._task = task
        self._bytes = arena.bytes[: self.layout.size]
        self._contents = Contents(
            task, case, self.layout, portable=portable, alike=alike, inputs=inputs
        )
        self._seed: str | None = None
        self._filling: OwnCopy | Noted
        if checked and portable and has_room(self.layout, task.device):
            self._filling = OwnCopy(self._contents, self._bytes, self.layout)
        else:
            stretches = [(s.base, self.layout.end(s)) for s in self.layout.constant]
            digest = Digest(self._bytes, stretches, task.device.digest) if checked else None
            self._filling = Noted(self._contents, self._bytes, self.layout, digest)
        spans = [(s.base, s.stride, s.bytes) for s in self.layout.outputs]
        # Whether the outputs of a case were written late is not asked.
        self._receipt = None if portable else Receipt(self._bytes, spans, calls)

    def arguments(self) -> tuple[TensorArgument | ScalarArgument, ...]:
        """The calls' arguments for the runner's ``prepare`` message, in the order of the call."""
        slots = {s.tensor.name: s for s in self.layout.slots}
        values = self.case.values
        return tuple(
            slots[p.name].argument
            if p.role is Role.TENSOR
            else ScalarArgument(ctype=p.type, value=values[p.name])
            for p in self._task.problem.parameters
        )

    @property
    def construction(self) -> Construction | None:
        """What a submission's class is made with, where the problem's format says so."""
        return self._task.problem.construction(self.case)

    @property
    def kept(self) -> bool:
        """Whether what it is filled with is kept where no submission can write to it."""
        return self._filling.kept

    @property
    def bytes(self) -> Tensor:
        """The arena as far as it is laid out: uint8."""
        return self._bytes

    def fill(self, seed: str, *, once: bool = False) -> None:
        """Draw all inputs anew, poison the outputs, set the guards, take the digest of inputs.

        With ``once``, for calls that are not made, what the problem's author draws is drawn for one
        call and serves all.
        """
        self._filling.fill(seed, once=once)
        self._seed = seed
        if self._receipt is not None:
            self._receipt.draw()

    def take_receipt(self) -> None:
        """Note parts of all outputs, which :meth:`written_late` compares; returns at once."""
        if self._receipt is not None:
            self._receipt.take()

    def written_late(self) -> BatchMismatch | None:
        """The fault of outputs that changed since :meth:`take_receipt`; before :meth:`check`."""
        call = None if self._receipt is None else self._receipt.first_change()
        if call is None:
            return None
        return BatchMismatch(call, "outputs were written after the submission said it was done")

    def fill_for_warm_up(self, seed: str, then: str | None = None) -> None:
        """Fill it for calls that are not checked: drawn on the device, ten times faster.

        Or, where those of the seed ``then`` are filled in next, with these, each call with those of
        another.
        """
        self._seed = None
        self._filling.fill_for_warm_up(seed, then)

    def draw(self, seed: str) -> None:
        """Draw what :meth:`fill` will write, if it is :attr:`kept`; any other seed is forgotten."""
        self._filling.draw(seed)

    def expect(self, seed: str) -> None:
        """Compute what is expected of the calls before they are made, where inputs are kept.

        Raises:
            ProblemError: the reference is wrong.
        """
        if self._filling.kept:
            self._filling.draw(seed)
            inputs = [*map(self._filling.reader(), range(self.layout.calls))]
            self._checker.expect(self.case, inputs, seed)

    def inputs(self, call: int) -> dict[str, Tensor]:
        """The tensors that one call reads, as they were before the call; dense.

        Drawn again, so that what the call did changes nothing.
        """
        self._known_seed()
        return self._filling.drawn(call)

    def filled(self, call: int) -> dict[str, Tensor]:
        """What :meth:`inputs` says, copied while no call has run yet: nothing is drawn again."""
        return {
            s.tensor.name: self.layout.elements(self._bytes, s)[call].clone(
                memory_format=torch.contiguous_format
            )
            for s in self.layout.read
        }

    def outputs(self, call: int) -> dict[str, Tensor]:
        """The outputs of one call: views of the arena, with strides where they are declared."""
        return {
            s.tensor.name: self.layout.elements(self._bytes, s)[call] for s in self.layout.outputs
        }

    def expectations(
        self, call: int, inputs: Mapping[str, Tensor] | None = None
    ) -> Mapping[str, Expectation]:
        """The reference's expectations of one call's outputs, for its ``inputs`` if they are known.

        Raises:
            ProblemError: the reference is wrong.
        """
        return self._expectations(call, self.inputs(call) if inputs is None else inputs)

    def reset(self) -> None:
        """Put outputs, gaps and guards back to what they were before the calls.

        What is only read is as it was: nothing but a submission writes there.
        """
        self._contents.write(self._bytes, self.layout.outputs, self._known_seed())

    def check(
        self,
        expected: Sequence[Mapping[str, Expectation]] | None = None,
        *,
        returned: Returned | None = None,
    ) -> BatchMismatch | None:
        """Check every output of every call, then that nothing else changed; None if all is right.

        ``expected`` has the :meth:`expectations` of every call where they are known already,
        ``returned`` what the submission is said to have returned in vain, for the message.
        Nothing else may write to the arena meanwhile; inputs that were changed are put back.

        Raises:
            ProblemError: the reference is wrong.
        """
        # Nearly all leave all else as it was, which is seen at once.
        self._known_seed()
        untouched = self._filling.untouched()
        changed = None if untouched else self._filling.first_change()
        if changed is not None:
            self._filling.put_back()
        if (wrong := self._wrong_output(expected, returned)) is not None:
            return wrong
        stray = None if untouched else first_stray(self._bytes, self.layout, self._contents)
        places = [place for place in (changed, stray) if place is not None]
        return BatchMismatch(*self.layout.blame(min(places))) if places else None

    def _known_seed(self) -> str:
        """The seed of :meth:`fill`; ValueError if it was not filled, or to warm up."""
        if self._seed is None:
            raise ValueError("a batch that was not filled has no inputs to be drawn again")
        return self._seed

    def _expectations(self, call: int, inputs: Mapping[str, Tensor]) -> Mapping[str, Expectation]:
        case = self._contents.case_of(call, self._known_seed())
        return self._task.reference.expectations(case, self._task.dtype, inputs)

    # -- checking --------------------------------------------------------------------------------

    def _wrong_output(
        self,
        expected: Sequence[Mapping[str, Expectation]] | None,
        returned: Returned | None,
    ) -> BatchMismatch | None:
        """The first call with a wrong output; inputs must be as they were."""
        seed = self._known_seed()
        others = self._contents.others(seed)
        unsure: Sequence[int] = range(self.layout.calls)
        alike = [call for call in unsure if call not in others]
        outputs = {s.tensor.name: self._numbers(self._bytes, s) for s in self.layout.outputs}
        inputs = self._filling.reader()

        def each(number: int) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
            call = alike[number]
            return inputs(call), {name: tensor[call] for name, tensor in outputs.items()}

        def known(name: str, call: int) -> tuple[Tensor, Expectation]:
            return outputs[name][call], self._expectations(call, inputs(call))[name]

        # Nearly all batches are right: seeing that takes one wait for the device. Only where it
        # fails is each call compared by itself, which says what is wrong; and the few of another
        # family always are.
        if expected is None and self._checker.all_surely_right(self.case, len(alike), each, seed):
            unsure = sorted(others)
        for call in unsure:
            right = self._expectations(call, inputs(call)) if expected is None else expected[call]
            mismatch = compare_all({name: x[call] for name, x in outputs.items()}, right)
            if mismatch is not None:
                name = mismatch.parameter
                message = f"{mismatch.differing} of {mismatch.total} elements of {name} are wrong"
                if returned is not None:
                    message += returned_hint(name, returned)
                elif expected is None and not isinstance(right[name], Streamed):
                    slots = next(s for s in self.layout.outputs if s.tensor.name == name)
                    message += unset_hint(slots, self.layout.calls, call, partial(known, name))
                return BatchMismatch(call, message, mismatch)
        return None

    # -- views -----------------------------------------------------------------------------------

    def _numbers(self, data: Tensor, slots: BufferLayout) -> Tensor:
        """The elements of one tensor's buffers; booleans as bytes: not each byte is a boolean."""
        kind = torch.uint8 if slots.dtype is torch.bool else None
        return self.layout.elements(data, slots, kind)
