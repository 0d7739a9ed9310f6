"""What ``draw`` of a package's ``reference.py`` makes for timed calls, on the device they run on.

A processor takes a tenth of a second for a large structure, and a batch has hundreds of calls, each
with its own. So the judge, which trusts the file as it does for its reference, calls the function
itself, with a generator of the device and with the device as torch's default one. Where what comes
of that lies elsewhere, is not the same each time, or takes long, the author's processes draw. A
GPU draws other values than a processor: timed calls, unlike correctness cases, need not be the same
on all machines.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from harness.author.returned import Mistake, returned_tensors
from harness.author.source import first_line
from harness.errors import ProblemError
from harness.problem.authors_file import AuthorsFile
from harness.problem.case import Case
from harness.problem.gradable import InputSource
from harness.problem.model import DRAW, REFERENCE_FILE, Declaration
from harness.problem.sampling.drawn import AuthorsTensors, Drawn, call_bits
from harness.problem.terms import TensorSpec

_LEAST_S, _BYTES_PER_S = 1e-3, 2e9
"""About what a drawing takes of the processes, of which several draw at once: what takes longer on
the device is left to them."""
SLOW = "the author's processes take less time"
"""Why something is not drawn on the device that could be."""


class _Last(NamedTuple):
    """The call that was drawn last: its other tensors are asked for next."""

    spec: str
    seed: str
    drawn: Drawn


class DrawnOnDevice:
    """An ``InputSource`` for timed calls: what is drawn together is drawn on ``device``.

    Args:
        problem: a package.
        inputs: draws all else, and what cannot be drawn there.
        device: as torch names it.
    """

    def __init__(self, problem: Declaration, inputs: InputSource, device: str) -> None:
        self._problem = problem
        self._inputs = inputs
        self._device = torch.device(device)
        self._authors = AuthorsTensors(problem)
        self._last: _Last | None = None

    def works(self, case: Case) -> bool:
        """Whether this case is drawn there."""
        return not self.why_not(case)

    def why_not(self, case: Case) -> str:
        """Why this case is not drawn there, empty if it is; tried the first time.

        torch.OutOfMemoryError comes through, here and where something is drawn.
        """
        key = str(self._problem.folder), self._problem.hash, str(self._device), case.spec
        if key not in _tried:
            _tried[key] = self._try(case)
        return _tried[key]

    def draw(self, tensor: TensorSpec, case: Case, seed: str) -> Tensor:
        """One tensor of one call: on the device, if it is drawn there."""
        if not (tensor.together and self.works(case)):
            return self._inputs.draw(tensor, case, seed)
        last, self._last = self._last, None  # its memory is for the next
        if last is None or (last.spec, last.seed) != (case.spec, seed):
            bits = call_bits(self._problem.slug, case, seed)
            last = _Last(case.spec, seed, self._drawn(case, bits))
        self._last = last
        return self._authors.fitting(tensor, case, last.drawn)

    def write(self, out: Tensor, tensor: TensorSpec, case: Case, seed: str) -> None:
        """The same, to where it belongs."""
        out.copy_(self.draw(tensor, case, seed))

    def forget(self) -> None:
        """Give back the memory of what was drawn last: all of it has been written."""
        self._last = None

    def fill(
        self, out: Tensor, tensor: TensorSpec, case: Case, seed: str, *, warm_up: bool
    ) -> None:
        """As ``inputs`` does."""
        self._inputs.fill(out, tensor, case, seed, warm_up=warm_up)

    def _try(self, case: Case) -> str:
        """Whether two drawings are alike, and the second, which has nothing to load, is fast."""
        try:
            first = self._drawn(case, 0)
            began = time.perf_counter()
            again = self._drawn(case, 0)
        except ProblemError as error:
            return error.diagnostics[0].message
        if not all(torch.equal(x, again.tensors[name]) for name, x in first.tensors.items()):
            return "two drawings with the same generator differ"
        spent_s = time.perf_counter() - began
        return SLOW if spent_s > _LEAST_S + again.bytes / _BYTES_PER_S else ""

    def _drawn(self, case: Case, seed: int) -> Drawn:
        """All tensors of a call.

        Raises:
            ProblemError: the function fails there, or does not return them.
        """
        file = _file(self._problem.folder / REFERENCE_FILE, self._problem.hash)
        generator = Generator(self._device).manual_seed(seed)
        given = {"generator": generator, "family": case.family, **case.values}
        if (found := file.optional(DRAW, given)) is None:
            raise file.wrong(DRAW, "the file defines no such function")
        function, names = found
        with self._device, _repeatable():
            returned = file.call(DRAW, function, {name: given[name] for name in names})
        line, wanted = first_line(function), self._authors.wanted(case)
        try:
            tensors = returned_tensors(returned, wanted, self._device.type)
        except Mistake as mistake:
            raise file.wrong(DRAW, str(mistake), line) from None
        return Drawn(tensors, line, fitting={})


@contextmanager
def _repeatable() -> Iterator[None]:
    """Have torch refuse, in this block, what it does not do in the same way each time."""
    before = torch.are_deterministic_algorithms_enabled()
    warns = torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before, warn_only=warns)


@lru_cache(maxsize=4)
def _file(path: Path, version: str) -> AuthorsFile:  # noqa: ARG001 - another version is another file
    return AuthorsFile(path)


_tried: dict[tuple[str, str, str, str], str] = {}
"""By folder, version, device and case, why not. Global, since each batch has inputs of its own."""
