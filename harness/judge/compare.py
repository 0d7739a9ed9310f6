"""Compare an output with what was expected: every element, on the device it is on.

An element of a floating-point output is right when

- expected is finite and |got − expected| ≤ allowed, or
- expected, give or take what is allowed, is too large for the output's type and got is infinity of
  the same sign, or
- expected is infinite and got is the same infinity, or
- expected is NaN (which only NaN or infinity in the inputs can bring) and got is NaN.

A complex one is right when it is within what is allowed as a number, |got − expected| ≤ allowed;
where a component of what is expected is not finite, or too large for the output's type, both
components must be right by the rules above instead. Integers and booleans are exact, and a byte
that is neither 0 nor 1 is no boolean. Everything else is wrong; above all NaN where a number was
expected.

An infinite or undefined allowance (infinities were among what was summed) neither lets a finite
element pass nor fails it for its last digits: :data:`ROUNDINGS` are allowed instead.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import torch
from torch import Tensor

from harness.problem.terms import Expectation
from harness.records.cases import Element, Mismatch

CHUNK = 1 << 23
"""Elements compared at a time, in float64: 64 MiB for each temporary, of which there are few."""

Within: TypeAlias = Callable[[Tensor, Expectation], Tensor | None]
"""Tells, as :meth:`harness.device.base.Device.within` does, whether an output is surely right."""

ROUNDINGS = 32.0
"""Allowed error of a finite element where the error model has no finite answer, in unit roundoffs
of the output's type relative to the expected value."""


def compare_all(outputs: Mapping[str, Tensor], known: Mapping[str, Expectation]) -> Mismatch | None:
    """The first fault of a call's ``outputs``, by name; None if every element is right.

    As :func:`compare` says, and where the problem's author has a check for an output, as that does.
    What is wrong is looked at again by what is right :attr:`~Expectation.otherwise`. Of a
    :class:`~harness.problem.terms.Streamed` expectation one piece after the other is asked for.

    Raises:
        ProblemError: the check, or a reference that answers piece by piece, is wrong.
    """
    found = _first_fault(outputs, known)
    otherwise = next((each.otherwise for each in known.values() if each.otherwise), None)
    if found is None or otherwise is None or (other := otherwise()) is None:
        return found
    return _first_fault(outputs, other)


def _first_fault(
    outputs: Mapping[str, Tensor], known: Mapping[str, Expectation]
) -> Mismatch | None:
    verdicts = _verdicts(outputs, known)
    for name, want in known.items():
        found = _compared(name, outputs[name], want, verdicts.get(name))
        if found is not None:
            return found
    return None


def all_surely_right(
    outputs: Mapping[str, Tensor],
    known: Mapping[str, Expectation],
    within: Within | None = None,
) -> Tensor:
    """Whether all ``outputs`` of a call are right beyond doubt, as :func:`surely_right` is.

    ``within`` tells that of an output if it can, else the same is done here.

    Raises:
        ProblemError: the author's check, or a reference that answers piece by piece, is wrong.
    """
    verdicts = _verdicts(outputs, known)
    return torch.stack(
        [
            verdicts[name].all() if name in verdicts else _surely_right(outputs[name], want, within)
            for name, want in known.items()
        ]
    ).all()


def every_surely_right(
    calls: Iterable[tuple[Mapping[str, Tensor], Mapping[str, Expectation]]],
    within: Within | None = None,
) -> bool:
    """Whether all of many calls are, each by its outputs and what is known; one wait for them.

    Raises as :func:`all_surely_right`.
    """
    right = [all_surely_right(outputs, known, within) for outputs, known in calls]
    return not right or bool(torch.stack(right).all())


def _verdicts(
    outputs: Mapping[str, Tensor], known: Mapping[str, Expectation]
) -> Mapping[str, Tensor]:
    check = next((want.check for want in known.values() if want.check is not None), None)
    return {} if check is None else check(outputs)


def compare(
    parameter_name: str,
    got: Tensor,
    expected: Tensor,
    allowed: Tensor,
    right: Tensor | None = None,
) -> Mismatch | None:
    """None if every element of ``got`` is right, else how many are not, the first and the worst.

    ``got`` is in the output's type (booleans may come as bytes); ``expected`` (float64; int64 or
    bool for integers, complex128) and ``allowed`` (float64) have its shape, and its device or the
    host's memory, from which they come piece by piece. Integers of
    64 bits without a sign are expected as int64 with the same bits. ``right`` (bool), where it is
    given, decides alone which elements are. “First” is in row-major order;
    “worst” has the greatest error relative to what is allowed (a NaN, and an infinity that was not
    expected, are worse than any number). The device is waited for once if all is right.

    Raises:
        ValueError: shapes or devices differ, or a complex number is expected of a real output.
    """
    if allowed.shape != expected.shape:
        raise ValueError(
            f"{parameter_name}: what is allowed is {tuple(allowed.shape)}, and what is expected "
            f"{tuple(expected.shape)}"
        )
    return _compared(parameter_name, got, Expectation(expected=expected, allowed=allowed), right)


def surely_right(got: Tensor, expected: Tensor, allowed: Tensor) -> Tensor:
    """Whether every element is right by |got − expected| ≤ allowed < ∞ alone; exact ones by =.

    A bool without dimensions, on the device of the tensors and not waited for. Where it is true
    :func:`compare` finds nothing; false says nothing, for infinities, NaN and overflows have rules
    of their own.
    """
    return _surely_right(got, Expectation(expected=expected, allowed=allowed))


def _compared(
    parameter_name: str, got: Tensor, want: Expectation, right: Tensor | None
) -> Mismatch | None:
    """As :func:`compare`; what is wanted is read in one pass if all is right, else in two."""
    if want.shape != tuple(got.shape):
        raise ValueError(
            f"{parameter_name}: {tuple(got.shape)} cannot be compared with {want.shape}"
        )

    def chunks() -> Iterator[_Chunk]:
        return _alike(parameter_name, _chunks(got, want, right))

    # Right outputs, nearly all, take this way: a quarter of the cost, and one wait for the device.
    if bool(_all_near(chunks(), got.device) if right is None else right.all()):
        return None
    with torch.inference_mode():
        return _mismatch(parameter_name, chunks(), got.shape)


def _surely_right(
    got: Tensor,
    want: Expectation,
    within: Within | None = None,
) -> Tensor:
    right = within(got, want) if within else None
    return _all_near(_chunks(got, want), got.device) if right is None else right


def _all_near(chunks: Iterable["_Chunk"], device: torch.device) -> Tensor:
    with torch.no_grad():
        parts = [chunk.here().near() for chunk in chunks]
        if not parts:
            return torch.ones((), dtype=torch.bool, device=device)
        return torch.stack(parts).all()


def _alike(parameter_name: str, chunks: Iterable["_Chunk"]) -> Iterator["_Chunk"]:
    """The chunks, each of which can be compared; else ValueError."""
    for chunk in chunks:
        got = chunk.got
        for tensor in (chunk.expected, chunk.allowed):
            if tensor.device not in (got.device, torch.device("cpu")):
                raise ValueError(
                    f"{parameter_name}: what is on {got.device} cannot be compared with what is on "
                    f"{tensor.device}"
                )
        if chunk.expected.is_complex() and not got.is_complex():
            raise ValueError(
                f"{parameter_name}: {got.dtype} cannot be compared with complex numbers"
            )
        yield chunk


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A flat stretch of the tensors, as views; ``start`` elements come before it."""

    start: int
    got: Tensor
    expected: Tensor
    allowed: Tensor
    right: Tensor | None = None

    def here(self) -> "_Chunk":
        """The same with all that it compares on the device of ``got``."""
        where = self.got.device
        return replace(self, expected=self.expected.to(where), allowed=self.allowed.to(where))

    def near(self) -> Tensor:
        """Whether all are right by |got − expected| ≤ allowed: a bool without dimensions."""
        if self.exact:
            return (self._whole(self.got) == self._whole(self.expected)).all()
        # The difference is formed in float64, to which the narrower type is promoted.
        right = ((self.got - self.expected).abs() <= self.allowed).all()
        # Neither NaN nor infinity is below infinity, and the largest of all is NaN if any is.
        return right & (self.allowed.amax() < math.inf)

    def wrong(self) -> Tensor:
        """Which elements are wrong, by all rules: bool, flat."""
        if self.right is not None:
            return self.right.logical_not()
        if self.exact:
            return self._whole(self.got) != self._whole(self.expected)
        largest = torch.finfo(self.got.dtype).max
        got, bound = self._wide(), self.allowance()
        if not self.got.is_complex():
            return _right(got, self.expected, bound, largest).logical_not_()
        # Complex: as numbers in the plane where both components are plain, else each component by
        # the rules for real numbers.
        expected = self.expected.to(torch.complex128)
        parts = torch.view_as_real(expected)
        bounds = self._finite(self.allowed.unsqueeze(-1), parts)
        plain = (parts.isfinite() & (parts.abs() + bounds <= largest)).all(-1)
        near = (got - expected).abs() <= bound
        by_part = _right(torch.view_as_real(got), parts, bounds, largest).all(-1)
        return torch.where(plain, near, by_part).logical_not_()

    def badness(self, wrong: Tensor) -> Tensor:
        """Error over allowance where ``wrong``, −1 elsewhere: float64, flat."""
        expected = self.expected if self.got.is_complex() else self.expected.to(torch.float64)
        error = (self._wide() - expected).abs()
        # An allowance of 0 would make 0/0 of what is right, and all that is wrong equally bad.
        ratio = error.div_(self.allowance().clamp(min=torch.finfo(torch.float64).tiny))
        return ratio.nan_to_num_(nan=math.inf).masked_fill_(wrong.logical_not(), -1.0)

    def allowance(self) -> Tensor:
        """``allowed``, made finite wherever what is expected is: float64, flat."""
        return self.allowed if self.exact else self._finite(self.allowed, self.expected)

    def _finite(self, allowed: Tensor, expected: Tensor) -> Tensor:
        # eps is the distance from 1 to the next number: two unit roundoffs.
        relative = ROUNDINGS * torch.finfo(self.got.dtype).eps / 2
        return torch.where(allowed.isfinite(), allowed, expected.abs() * relative)

    @property
    def exact(self) -> bool:
        """Whether the output holds integers or booleans."""
        return not (self.got.dtype.is_floating_point or self.got.is_complex())

    def _whole(self, numbers: Tensor) -> Tensor:
        """Integers as int64 (uint64 with the same bits), or as float64 if so is the reference."""
        return numbers.to(torch.float64 if self.expected.is_floating_point() else torch.int64)

    def _wide(self) -> Tensor:
        return self.got.to(torch.complex128 if self.got.is_complex() else torch.float64)


def _right(got: Tensor, expected: Tensor, allowed: Tensor, largest: float) -> Tensor:
    """Which real numbers (float64) are right in a type that ends at ``largest``: bool."""
    # NaN compares false: whatever is not shown to be right is wrong.
    right = ((got - expected).abs_() <= allowed) & expected.isfinite()
    # Within the allowance an honest result may already be past the end of the type.
    overflows = expected.abs().add_(allowed) > largest
    overflows |= expected.isinf()
    right |= got.isinf() & overflows & (got.signbit() == expected.signbit())
    right |= got.isnan() & expected.isnan()
    return right


def _chunks(got: Tensor, want: Expectation, right: Tensor | None = None) -> Iterator[_Chunk]:
    """Stretches of at most :data:`CHUNK` elements; copies ``got`` first if it has gaps.

    Raises:
        ValueError: what is wanted is not one stretch after the other, up to the last element.
    """
    flat = got.reshape(-1)
    known = None if right is None else right.reshape(-1)
    end = 0
    for stretch in want.stretches():
        count = len(stretch.expected)
        if stretch.start != end or len(stretch.allowed) != count or end + count > len(flat):
            raise ValueError(f"what is expected from {stretch.start} on cannot be compared")
        for start in range(0, count, CHUNK):
            part = slice(start, min(start + CHUNK, count))
            here = slice(end + part.start, end + part.stop)
            yield _Chunk(
                here.start,
                flat[here],
                stretch.expected[part],
                stretch.allowed[part],
                None if known is None else known[here],
            )
        end += count
    if end != len(flat):
        raise ValueError(f"what is expected ends after {end} of {len(flat)} elements")


def _mismatch(parameter_name: str, chunks: Iterable[_Chunk], shape: torch.Size) -> Mismatch | None:
    """What is wrong by all rules; None if nothing is: infinities, NaN and overflows may be right.

    Each chunk is looked at once and let go: others may take a reference to have them again.
    """
    differing, most = 0, -math.inf
    first: Element | None = None
    worst: Element | None = None
    for each in chunks:
        chunk = each.here()
        wrong = chunk.wrong()
        count = int(wrong.count_nonzero())
        if not count:
            continue
        differing += count
        if first is None:  # argmax of bytes gives the first of the largest
            first = _element(chunk, int(wrong.to(torch.uint8).argmax()), shape)
        badness = chunk.badness(wrong)
        here = int(badness.argmax())
        if worst is None or float(badness[here]) > most:
            worst, most = _element(chunk, here, shape), float(badness[here])
    if first is None or worst is None:
        return None
    return Mismatch(
        parameter=parameter_name,
        differing=differing,
        total=math.prod(shape),
        first=first,
        worst=worst,
    )


def _element(chunk: _Chunk, flat: int, shape: torch.Size) -> Element:
    """Element number ``flat`` of a chunk that is all on one device, for the record.

    ``shape`` is the whole output's.
    """
    index: list[int] = []
    rest = chunk.start + flat
    for length in reversed(shape):  # torch.unravel_index would import for a second
        rest, here = divmod(rest, length)
        index.insert(0, here)
    at = tuple(index)
    allowed = float(chunk.allowance()[flat])
    expected, got = chunk.expected[flat].item(), chunk.got[flat].item()
    if chunk.got.is_complex():
        want, have = complex(expected), complex(got)
        parts = {"expected_imag": want.imag, "got_imag": have.imag}
        return Element(index=at, expected=want.real, got=have.real, allowed=allowed, **parts)
    if chunk.exact and not chunk.expected.is_floating_point():
        expected = int(expected) % 2**64 if chunk.got.dtype is torch.uint64 else int(expected)
    got = int(got) if chunk.exact else got
    return Element(index=at, expected=expected, got=got, allowed=allowed)
