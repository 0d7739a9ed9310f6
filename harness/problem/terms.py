"""The terms that problems of every format and the judge share: roles, tensors, limits, answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from torch import Tensor

DEFAULT_ALIGNMENT = 256
"""Bytes; what CUDA's own allocator promises."""


class Direction(StrEnum):
    """Which way a tensor's contents go, seen from the submission."""

    IN = "in"
    OUT = "out"
    INOUT = "inout"


class Role(StrEnum):
    """Use of a parameter: pointers are tensors, integers sizes, other numbers scalars."""

    TENSOR = "tensor"
    SIZE = "size"
    SCALAR = "scalar"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of what a submission may use: times in seconds, and host memory.

    Times are the wall's on a GPU, and where kernels are emulated those in which a submission
    computes or sleeps (:mod:`harness.session.own_time`). ``prepare_s`` covers loading it and the
    calls that warm it up. What the judge does meanwhile (drawing, checking) counts for none.
    """

    build_s: float = 120.0
    prepare_s: float = 60.0
    call_s: float = 10.0
    cases_s: float = 300.0
    """All correctness cases together."""
    idle_s: float = 60.0
    """Of that, the time in which none of its processes computes."""
    timed_s: float = 600.0
    """All that is timed, warm-ups included, together."""
    shrink_s: float = 120.0
    """The search for a smaller failing case, together."""
    host_bytes: int = 4 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorSpec:
    """One tensor argument of a case, all of it known."""

    name: str
    """The parameter's name."""
    dtype: str
    """Element type, by torch's name: ``float32``; one of :data:`~harness.problem.dtypes.DTYPES`."""
    shape: tuple[int, ...]
    """Elements along each dimension, row-major; empty for a single element."""
    strides: tuple[int, ...]
    """Elements from one index to the next of each dimension; no two elements overlap."""
    direction: Direction
    """Whether the submission reads it, writes it, or both."""
    alignment: int = DEFAULT_ALIGNMENT
    """Bytes that the address is promised to be a multiple of."""
    zeroed: bool = False
    """Whether all elements of a pure output are 0 before every call; else their bits are
    arbitrary."""
    together: bool = False
    """Whether its contents are drawn with those of other tensors of its call, call by call on the
    CPU, in timed batches, too."""
    seen_as: str = ""
    """The type that a submission sees its bytes as, one of :data:`~harness.problem.dtypes.NARROW`;
    empty where that is ``dtype``."""
    on_host: str = ""
    """The bytes that it has in every call as hex digits, where a submission on a GPU gets it in the
    host's memory; empty for others."""

    @property
    def span(self) -> int:
        """Elements from the first to the last, gaps included: what a buffer must hold."""
        return 1 + sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCost:
    """Least work of one call of a case, from which the speed of light (SOL) follows.

    Floating-point operations, and bytes read and written; None where the problem does not say.
    ``tf32``: float32 factors may be cut to TF32, which matrix units multiply faster.
    """

    flops: float | None = None
    bytes: float | None = None
    tf32: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Construction:
    """What a submission's class is made with, where the format says so, not sizes and scalars."""

    arguments: str
    """JSON of its positional arguments, as :class:`~harness.wire.arguments.Construct` has it."""
    seed: int
    """Of everything random in the constructor: weights, mostly."""
    call: str = ""
    """Likewise, JSON of what a call gets, where that is not the parameters in order."""
    weights: tuple[str, ...] = ()
    """Its own names of weights with values of each call's own; likewise."""
    constants: str = ""
    """Likewise, JSON of the file's constants that are smaller here; empty: none is."""


Check: TypeAlias = "Callable[[Mapping[str, Tensor]], Mapping[str, Tensor]]"
"""All outputs of a call, by name, in their own types → for each output that it judges, which
elements are right: bool, of the output's shape, on its device and not waited for."""

Otherwise: TypeAlias = "Callable[[], Mapping[str, Expectation] | None]"
"""What is right as well of all outputs of a call, by name; None where nothing else is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """The right values of one output, and how far off each may be."""

    expected: Tensor
    """float64 (integers int64 or bool, complex complex128), the output's shape; NaN or infinite
    where NaN or infinity in the inputs reaches."""
    allowed: Tensor
    """float64, same shape and device: the largest |got − expected| that is right. 0 for integers.
    Of no use where ``expected`` is not finite."""
    check: Check | None = None
    """Says which elements are right where that is not the distance; the same for all outputs of a
    call. It decides about those that it returns."""
    otherwise: Otherwise | None = None
    """Asked where an output is wrong by this: a call is right, too, that is right by what it says.
    The same for all outputs of a call."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The output's."""
        return tuple(self.expected.shape)

    def stretches(self) -> Iterator[Stretch]:
        """All of it, in row-major order."""
        yield Stretch(0, self.expected.reshape(-1), self.allowed.reshape(-1))


class Stretch(NamedTuple):
    """What is right of some elements of an output that follow each other in row-major order."""

    start: int
    """How many elements come before them."""
    expected: Tensor
    """As :attr:`Expectation.expected`, flat."""
    allowed: Tensor
    """As :attr:`Expectation.allowed`, flat, on the same device."""


class Pieces(Protocol):
    """The right values of one output, which are had piece by piece, anew in each pass."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The output's."""

    def __iter__(self) -> Iterator[Stretch]:
        """All of it, in row-major order, without gaps.

        Raises:
            ProblemError: the reference is wrong.
        """


class Streamed(Expectation):
    """The right values of an output that is too large to have them whole.

    What they follow from, a call's inputs above all, must stay as it is while this is in use. Who
    asks for :attr:`expected` or :attr:`allowed` all the same gets them, whole and anew each time.
    """

    __slots__ = ("pieces",)
    pieces: Pieces

    def __init__(self, pieces: Pieces, otherwise: Otherwise | None = None) -> None:
        for name, value in (("pieces", pieces), ("check", None), ("otherwise", otherwise)):
            object.__setattr__(self, name, value)

    @property
    def shape(self) -> tuple[int, ...]:
        """The output's."""
        return self.pieces.shape

    def stretches(self) -> Iterator[Stretch]:
        """All of it, in row-major order."""
        return iter(self.pieces)

    @property
    def expected(self) -> Tensor:
        """All right values."""
        return self._whole([each.expected for each in self.pieces])

    @property
    def allowed(self) -> Tensor:
        """All allowances."""
        return self._whole([each.allowed for each in self.pieces])

    def _whole(self, parts: list[Tensor]) -> Tensor:
        import torch

        return torch.cat(parts).reshape(self.shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class FormalParameter:
    """One parameter of the entry point, as a signature shows it."""

    name: str
    """An identifier in C and Python."""
    type: str
    """C type of an element or of the value; ``[VAR]`` for the data type of the grade."""
    role: Role
    direction: Direction | None = None
    """Which way a tensor's contents go; None for numbers."""
