"""Fill tensors by the declared distribution, or by a family of values made to be awkward.

The families keep what a kernel computes inside the range of the data type, and sums of up to 2¹⁷
terms exact in float32 where many are alike (``integers``, ``constant``, ``rows``). What their sums
are like beside that, the tolerance knows (:data:`harness.problem.sums.SUMS`), so that none of them
can fail an honest kernel. Complex numbers get both components independently, by the same rules.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Generator, Tensor

from harness.problem.case import FAMILIES, NONFINITE, SPARSE
from harness.problem.dtypes import DTYPES
from harness.problem.model import Distribution, Parameter
from harness.problem.sampling import pieces
from harness.problem.sampling.whole_numbers import bounds, fill_whole, integers, signs
from harness.problem.sums import (
    damped,
    largest_mean,
    mean_of,
    one_sided,
    spread_of,
)

_SCALES = {"large": 20, "tiny": -20, "mixed": 8}
_HALF_SCALES = {"large": 1, "tiny": -3, "mixed": 2}
"""Exponents of two; in float16 products of three values must neither overflow nor vanish."""

_EXPONENTS = (-3, 0)
"""Of the powers of two in ``constant`` and ``rows``: products of two have 7 bits together, so that
float32 holds sums of 2¹⁷ terms of either sign; with one value, of 2²⁴."""

_NEAR = 2.0**-6
"""By how much opposites differ in ``cancellation``: a few units in the last place of bfloat16."""

_OFFSET = 4.0
_HALF_OFFSET = 1.0
"""Largest offset of a row in ``offset``, in multiples of the declared size of a value; no more than
a mean may be (:func:`~harness.problem.sums.largest_mean`) of the row's length in float32."""

_SPARSE = 8
"""Elements of a row of length n that ``sparse`` keeps; in every other row √(8n) of them."""

_WITH_TEMPORARIES = ("zeros", "mixed")
"""Families that make others of all elements, beside them."""

_NONFINITE_SHARE = 32
_NONFINITE_LENGTH = 8
"""At most one element of so many, and of so many along the longest dimension, is not finite."""
_NONFINITE = (float("nan"), float("inf"), float("-inf"))


def fill(
    out: Tensor,
    parameter: Parameter,
    *,
    generator: Generator,
    family: str = "declared",
    steepest: float = math.inf,
) -> None:
    """Fill ``out``, a view of any shape and strides, with fresh values of ``parameter``.

    No mean of floating-point values is larger than ``steepest`` standard deviations, unless their
    declared bounds are of one sign: what is drawn is moved towards 0, its spread stays.

    ``generator`` belongs to the device of ``out``. On a GPU values are drawn in place, in the
    tensor's own type; on the CPU in float64 and rounded, which keeps them the same on processors
    with different vector units. Memory for a bounded number of elements is taken beside ``out``; on
    the CPU, where the same seed must give the same values for ever, ``rows`` and ``cancellation``
    take as much as ``out`` has.

    For ``rows``, ``cancellation``, ``constant``, ``nonfinite``, ``offset`` and ``sparse`` the shape
    has a meaning: ``out`` must then be one tensor in its own shape. With the others it may be many
    calls' at once.

    Raises:
        ValueError: no such family.
    """
    if family not in FAMILIES:
        raise ValueError(f"no family of values {family!r}")
    if out.numel() == 0:
        return
    if (values := _drawn(parameter.values, family, out, steepest)) != parameter.values:
        parameter = replace(parameter, values=values)
    # The dimensions of the tensor itself; a complex number's two components are none of them.
    dimensions = out.dim()
    if out.is_complex():
        out = torch.view_as_real(out)
    if family == "constant" or (family == "rows" and dimensions):
        # One value for all, or one for each row: drawn with dimensions of 1, then broadcast. A
        # complex number's components keep theirs, so that they differ.
        along = dimensions - 1 if family == "rows" else 0
        for part in (out,) if pieces.on_host(out) else pieces.chunks(out, along):
            ones = [1] * (dimensions - along)
            shape = (*part.shape[:along], *ones, *out.shape[dimensions:])
            part.copy_(_repeated(out.dtype, shape, parameter, generator))
    elif family in ("cancellation", SPARSE) and dimensions:
        length = out.shape[dimensions - 1] if family == SPARSE else None
        for part in (out,) if pieces.on_host(out) else pieces.chunks(out, dimensions, even=True):
            _fill_cancelling(part, dimensions, parameter, generator, length)
        _fade_last(out, dimensions)
    elif family == "offset":
        for part in (out,) if pieces.on_host(out) else pieces.chunks(out, max(0, dimensions - 1)):
            _fill_offset(part, dimensions, parameter, generator, steepest)
    elif not out.is_floating_point():
        fill_whole(out, parameter, generator, family)
    else:
        _fill_pieces(out, parameter, generator, family)
        if family == NONFINITE and parameter.nonfinite:
            _strew(out, dimensions, generator)


def _drawn(values: Distribution, family: str, out: Tensor, steepest: float) -> Distribution:
    """What a family draws floating-point numbers from; ``values`` for other types."""
    if one_sided(values) or not (out.is_floating_point() or out.is_complex()):
        return values
    if family == "uniform":  # positive, of the same magnitude
        most = max(abs(values.a), abs(values.b)) if values.kind == "uniform" else values.b
        values = Distribution(kind="uniform", a=0.0, b=most)
    return damped(values, steepest)


def _fill_pieces(
    out: Tensor,
    parameter: Parameter,
    generator: Generator,
    family: str,
    offsets: Tensor | None = None,
) -> None:
    """Fill floating-point ``out`` piece by piece, on the CPU through float64.

    ``offsets``, float64 and as large as ``out``, are added to what is drawn, before it is rounded:
    numbers of a coarse type moved by one number round alike, sum after sum.
    """
    in_place = offsets is None and not pieces.on_host(out)
    parts = (out,) if in_place and family not in _WITH_TEMPORARIES else pieces.chunks(out)
    moved = itertools.repeat(None) if offsets is None else pieces.chunks(offsets)
    for part, by in zip(parts, moved, strict=False):
        if in_place:
            _fill_real(part, parameter, generator, family, out.dtype)
            continue
        # float64, since vector units of other widths round other numbers in lesser types.
        drawn = torch.empty(part.shape, dtype=torch.float64, device=out.device)
        _fill_real(drawn, parameter, generator, family, out.dtype)
        part.copy_(drawn if by is None else drawn.add_(by))


def _repeated(
    dtype: torch.dtype, shape: Sequence[int], parameter: Parameter, generator: Generator
) -> Tensor:
    """Draw values to be repeated, for elements of type ``dtype``.

    Powers of two of either sign, whose sums are exact; integers between the declared bounds.
    """
    if not dtype.is_floating_point:
        return integers(shape, *bounds(dtype, parameter), generator)
    values = integers(shape, *_EXPONENTS, generator, torch.float64).exp2_()
    return values.mul_(signs(shape, generator))


def _fill_offset(
    out: Tensor, dimensions: int, parameter: Parameter, generator: Generator, steepest: float
) -> None:
    """Declared values, each row moved by a number of its own.

    Integers lie near one of their own, that is within a sixteenth of their bounds' distance.
    """
    last = dimensions - 1
    shape = [1 if d == last else n for d, n in enumerate(out.shape)]
    if not out.is_floating_point():
        low, high = bounds(out.dtype, parameter)
        near = (high - low) // 16
        centres = integers(shape, low + near, high - near, generator).expand(out.shape)
        for part, centre in zip(pieces.chunks(out), pieces.chunks(centres), strict=True):
            part.copy_(integers(part.shape, -near, near, generator).add_(centre))
        return
    values = parameter.values
    size = abs(mean_of(values)) + spread_of(values)
    if values.kind == "uniform":
        size = max(abs(values.a), abs(values.b))
    size *= _HALF_OFFSET if out.dtype is torch.float16 else _OFFSET
    terms = max(2, out.shape[last]) if dimensions else 2
    steepest = min(steepest, largest_mean(terms, DTYPES["float32"].roundoff))
    reach = min(size, spread_of(values) * steepest)
    offsets = torch.empty(shape, dtype=torch.float64, device=out.device)
    offsets.uniform_(reach / 2, reach, generator=generator)
    offsets.mul_(signs(shape, generator))
    _fill_pieces(out, parameter, generator, "declared", offsets.expand(out.shape))


def _kept(pairs: Sequence[int], length: int, generator: Generator) -> Tensor:
    """Which pairs ``sparse`` keeps: bool, of shape ``pairs``; ``length`` is that of a row.

    Few in one row and more in the next, so that a sum over one tensor has few terms in some rows,
    and one over products of two in many elements, whichever of their dimensions is summed.
    """
    share = min(1.0, _SPARSE / length)
    few = integers([*pairs[:-1], 1], 0, 1, generator) == 0
    drawn = torch.rand(pairs, generator=generator, device=generator.device, dtype=torch.float32)
    return torch.where(few, drawn < share, drawn < math.sqrt(share))


def _fill_cancelling(
    out: Tensor,
    dimensions: int,
    parameter: Parameter,
    generator: Generator,
    sparse_length: int | None,
) -> None:
    """Pairs along all ``dimensions``: opposites along the last, equals along the others.

    With ``sparse_length``, that of a whole row: few of them, of either sign, and zeros.
    """
    sparse = sparse_length is not None
    real = out.is_floating_point()
    # One value for each block of two along every dimension; the last block may be cut short.
    pairs = [-(-n // 2) for n in out.shape[:dimensions]]
    shape = (*pairs, *out.shape[dimensions:])
    if sparse_length is not None:
        kept = _kept(pairs, sparse_length, generator)
        kept = kept.view(*pairs, *[1] * (out.dim() - dimensions))  # a complex number as a whole
    if real:
        kind = torch.float64 if out.device.type == "cpu" else out.dtype
        ones = torch.empty(shape, dtype=kind, device=out.device)
        _fill_real(ones, parameter, generator, "declared", out.dtype)
        # −x, give or take 1/64 or 2/64 of x, or exactly: sums nearly vanish, and not all do.
        if sparse:  # never exactly: opposites are rounded alike, and nothing would show
            ones.mul_(signs(shape, generator, kind)).mul_(kept)
            steps = integers(shape, 1, 2, generator, kind).mul_(signs(shape, generator, kind))
        else:
            steps = integers(shape, -2, 2, generator, kind)
        others = steps.mul_(_NEAR).add_(1).mul_(ones).neg_()
    else:
        low, high = bounds(out.dtype, parameter)
        ones = integers(shape, low, high, generator, out.dtype)
        # Mirrored between the bounds: whole numbers from −8 to 8 cancel, none leaves the bounds.
        others = ones.to(torch.int64).neg_().add_(low + high).to(ones.dtype)
        if sparse:
            zero = min(max(0, low), high)
            ones, others = (
                torch.where(kept, each.to(torch.int64), zero).to(out.dtype)
                for each in (ones, others)
            )
    # Every second element along each dimension, from the first or second on: 2^dimensions views.
    for parity in itertools.product((0, 1), repeat=dimensions):
        places = out[tuple(slice(start, None, 2) for start in parity)]
        inside = tuple(slice(0, length) for length in places.shape[:dimensions])
        places.copy_((others if parity[-1] else ones)[inside])


def _fade_last(out: Tensor, dimensions: int) -> None:
    """Make small what has no opposite: the last of an odd number along the last dimension."""
    length = out.shape[dimensions - 1]
    if out.is_floating_point() and length > 1 and length % 2:
        out.select(dimensions - 1, length - 1).mul_(_NEAR)


def _strew(out: Tensor, dimensions: int, generator: Generator) -> None:
    """Put NaN and infinities at a few places of ``out``; at one at least, which gets NaN.

    How many is drawn log-uniformly, so that often there are too few to be found by a look at some
    elements, and bounded so that most rows and columns of a matrix stay free of them. Complex
    numbers get NaN alone: which component an infinity reaches depends on how they are multiplied.
    """
    lengths = out.shape[:dimensions]
    longest = max(lengths, default=1)
    most = max(1, min(math.prod(lengths) // _NONFINITE_SHARE, longest // _NONFINITE_LENGTH))
    drawn = torch.rand((), generator=generator, device=out.device, dtype=torch.float64)
    count = int(most ** drawn.item())
    values = torch.tensor(_NONFINITE, dtype=out.dtype, device=out.device)
    if not out.dim():
        out.copy_(values[0])
        return
    at_once = count if pieces.on_host(out) else pieces.MAX_DEVICE_CHUNK
    first: tuple[Tensor, ...] = ()
    for start in range(0, count, at_once):
        some = (min(at_once, count - start),)
        where = tuple(integers(some, 0, size - 1, generator) for size in out.shape)
        which = integers(some, 0, 0 if out.dim() > dimensions else 2, generator)
        _put(out, where, values[which])
        first = first or tuple(index[0].clone() for index in where)
    out[first] = math.nan  # whatever was drawn for that place


def _put(out: Tensor, where: tuple[Tensor, ...], values: Tensor) -> None:
    """Write ``values`` to places of ``out``, one after the other: the last counts.

    Where a place comes twice, plain indexing leaves open which counts, and on a GPU it changes from
    one time to the next: what is drawn again would not be what was drawn.
    """
    place = torch.zeros_like(where[0])
    for index, length in zip(where, out.shape, strict=True):
        place = place * length + index
    place, order = place.sort(stable=True)
    last = torch.ones_like(place, dtype=torch.bool)
    last[:-1] = place[1:] != place[:-1]
    kept = order[last]
    out[tuple(index[kept] for index in where)] = values[kept]


def _fill_real(
    out: Tensor, parameter: Parameter, generator: Generator, family: str, element: torch.dtype
) -> None:
    """Fill floating-point ``out`` in place; ``element`` is the type the values end up in.

    Random numbers are taken in a fixed order, so that seeds give the same values for ever.
    """
    values = parameter.values
    if family == "integers":
        out.random_(-3, 4, generator=generator)
    else:
        draw = out.uniform_ if values.kind == "uniform" else out.normal_
        draw(values.a, values.b, generator=generator)
    scales = _HALF_SCALES if element is torch.float16 else _SCALES
    if family in ("large", "tiny"):
        out.mul_(2.0 ** scales[family])
    elif family == "zeros":
        # A value times 0 keeps its sign: +0 and −0.
        out.mul_(integers(out.shape, 0, 7, generator, out.dtype).eq_(0))
    elif family == "mixed":
        # Neighbours differ by up to 2^(2 · spread); powers of two lose no digits.
        spread = scales[family]
        out.mul_(integers(out.shape, -spread, spread, generator, out.dtype).exp2_())
