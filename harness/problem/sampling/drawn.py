"""The tensors that ``draw`` of a package's ``reference.py`` makes: all those of one call at once.

The function runs in processes of its own (:mod:`harness.author`). What was drawn last is kept, for
it is asked for again: tensor by tensor, by both programs of a measurement, and for inputs that a
call has overwritten. Several threads may ask at once.
"""

import os
import threading
from collections import OrderedDict
from concurrent.futures import Future
from hashlib import sha256
from typing import NamedTuple

import torch
from torch import Tensor

from harness.author.client import AuthorError, authors_of
from harness.author.messages import Kind
from harness.errors import Diagnostic, ProblemError
from harness.problem.case import Case
from harness.problem.dtypes import DtypeKind
from harness.problem.model import DRAW, REFERENCE_FILE, Declaration, Parameter
from harness.problem.terms import TensorSpec

_KEPT_SHARE = 16
"""All that is kept takes at most so much less than the machine's memory."""


class Drawn(NamedTuple):
    """The tensors of one call, wide; ``line`` is where the function begins."""

    tensors: dict[str, Tensor]
    line: int
    fitting: dict[tuple[str, str], Tensor]
    """By name and type, those that have been asked for, each in its own type."""

    @property
    def bytes(self) -> int:
        """What all of them take; a wide one may be its own type's."""
        kept = [*self.tensors.values(), *list(self.fitting.values())]
        return sum({x.data_ptr(): x.nbytes for x in kept}.values())


class AuthorsTensors:
    """What ``draw`` of one package makes, as its parameters declare it.

    Raises:
        ProblemError: from its methods; the diagnostic names file, line and function.
    """

    def __init__(self, problem: Declaration) -> None:
        self._version = problem.hash
        self._dtypes = problem.dtypes
        self._path = problem.folder / REFERENCE_FILE
        self._parameters = {p.name: p for p in problem.tensors if p.drawn}

    def tensor(self, spec: TensorSpec, case: Case, seed: int) -> Tensor:
        """One of the tensors of a call, contiguous, in its own type; not to be written to."""
        key = str(self._path), self._version, case.spec, seed
        with _lock:
            mine = key not in _kept
            drawing = _kept.setdefault(key, Future())
            _kept.move_to_end(key)
        if mine:
            try:
                drawing.set_result(self.draw(case, seed))
            except BaseException as error:  # whoever waits for it has it, too
                with _lock:
                    _kept.pop(key, None)
                drawing.set_exception(error)
        found = self.fitting(spec, case, drawing.result())
        with _lock:
            _forget_beyond(_most_kept())
        return found

    def draw(self, case: Case, seed: int) -> Drawn:
        """All tensors of a call, drawn now."""
        try:
            with authors_of(self._path, self._version).process() as author:
                tensors, line = author.draw(
                    seed=seed, family=case.family, values=case.values, tensors=self.wanted(case)
                )
        except AuthorError as error:
            raise self._wrong(error.line, str(error), case) from None
        return Drawn(tensors, line, {})

    def wanted(self, case: Case) -> dict[str, tuple[Kind, tuple[int, ...]]]:
        """Kind and shape of each tensor, by name."""
        return {
            name: (self._kind(p), p.dimensions(case.values)) for name, p in self._parameters.items()
        }

    def _kind(self, parameter: Parameter) -> Kind:
        """The widest kind that a tensor has in any data type, so that one drawing serves all."""
        kinds = {parameter.data_type(dtype).kind for dtype in self._dtypes}
        if DtypeKind.COMPLEX in kinds:
            return "complex"
        return "float" if DtypeKind.FLOAT in kinds else "integer"

    def fitting(self, spec: TensorSpec, case: Case, drawn: Drawn) -> Tensor:
        """One tensor in its own type: integers in its range, floating-point numbers rounded."""
        own = spec.name, spec.dtype
        if own not in drawn.fitting:
            drawn.fitting[own] = self._fitted(spec, case, drawn)
        return drawn.fitting[own]

    def _fitted(self, spec: TensorSpec, case: Case, drawn: Drawn) -> Tensor:
        wide, kind = drawn.tensors[spec.name], getattr(torch, spec.dtype)
        wrong = ""
        if wide.is_complex() and not kind.is_complex:
            wrong = f"complex numbers, not {spec.dtype}" if bool((wide.imag != 0).any()) else ""
            wide = wide.real
        if not (kind.is_floating_point or kind.is_complex):
            wrong = wrong or _beyond(wide, kind)
        found = wide.to(kind).contiguous()
        finite = not (kind.is_floating_point or kind.is_complex) or bool(found.isfinite().all())
        if not (finite or self._parameters[spec.name].nonfinite):
            what = f"numbers too large for {spec.dtype}" if _finite(wide) else "NaN or infinity"
            wrong = wrong or what
        if wrong:
            raise self._wrong(drawn.line, f"{spec.name} holds {wrong}", case)
        return found

    def _wrong(self, line: int, message: str, case: Case) -> ProblemError:
        return ProblemError([Diagnostic(self._path, line, DRAW, f"{message} (case {case.spec})")])


def call_bits(slug: str, case: Case, seed: str) -> int:
    """What the generator of one call's tensors begins with."""
    return key_bits(f"draw|{seed}|{slug}|{case.spec}")


def key_bits(key: str) -> int:
    """63 bits of a key's SHA-256, which is what a generator takes."""
    return int.from_bytes(sha256(key.encode()).digest()[:8], "big") >> 1


def _finite(x: Tensor) -> bool:
    return bool(x.isfinite().all())


def _beyond(wide: Tensor, kind: torch.dtype) -> str:
    """What of ``wide`` no integer (or boolean) of type ``kind`` is; empty if there is nothing."""
    if wide.is_floating_point() and not bool((wide == wide.round()).all()):
        return "fractions"
    low, high = (0, 1) if kind is torch.bool else (torch.iinfo(kind).min, torch.iinfo(kind).max)
    least, most = (int(x) for x in wide.aminmax())
    if low <= least and most <= high:
        return ""
    name = str(kind).removeprefix("torch.")
    return f"{least if least < low else most}, and {name} ends at {low if least < low else high}"


def _most_kept() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // _KEPT_SHARE


def _forget_beyond(most: int) -> None:
    """Keep so many bytes, the last that were asked for, and what is being drawn."""
    held = sum(each.result().bytes for each in _kept.values() if each.done())
    for key, each in list(_kept.items())[:-1]:
        if held <= most:
            return
        if each.done():
            held -= each.result().bytes
            del _kept[key]


_lock = threading.Lock()
_kept: OrderedDict[tuple[str, str, str, int], Future[Drawn]] = OrderedDict()
"""By file, its version, case and seed, the last that was asked for at the end. Global, since each
batch has inputs of its own."""
