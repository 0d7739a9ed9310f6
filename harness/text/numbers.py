"""The one formatter of numbers: seconds, bytes, rates, ratios, and intervals around them.

Inside the harness there are only SI units; here they become what people read. Three significant
digits; with an interval, as many as the interval leaves meaningful.
"""

import math
from collections.abc import Sequence
from typing import Protocol

_TIME = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_DECIMAL = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_BINARY = ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B"))
_MAX_DECIMALS = 4


class IntervalLike(Protocol):
    """A value with the two ends of its interval."""

    value: float
    low: float
    high: float


def seconds(value: float) -> str:
    """``1.23e-5`` → ``12.3 µs``."""
    return _with_unit(value, _TIME)


def seconds_interval(interval: IntervalLike) -> str:
    """``12.31 ± 0.04 µs``: value and half-width of the 95 % interval, in one unit."""
    if not math.isfinite(interval.value):
        return seconds(interval.value)
    scale, unit = _unit(interval.value, _TIME)
    return f"{_value_and_half(interval, scale=scale)} {unit}"


def counted(number: int, what: str, many: str = "") -> str:
    """``1 result``, ``2 results``; ``many`` where an *s* does not make it more."""
    return f"{number} {what}" if number == 1 else f"{number} {many or what + 's'}"


def bytes_(value: float) -> str:
    """``8192`` → ``8 KiB``; binary multiples."""
    value = _real(value)
    scale, unit = _unit(value, _BINARY)
    whole = math.isfinite(value) and (value / scale).is_integer()
    return f"{value / scale:.0f} {unit}" if whole else f"{_three(value / scale)} {unit}"


def flop_rate(flops: float, time_s: float) -> str:
    """Operations in a time → ``312 TFLOP/s``."""
    return _with_unit(_rate(flops, time_s), _DECIMAL) + "FLOP/s"


def flops(value: float) -> str:
    """``1.374e11`` → ``137 GFLOP``: operations, decimal multiples."""
    return _with_unit(value, _DECIMAL) + "FLOP"


def byte_rate(count: float, time_s: float) -> str:
    """Bytes in a time → ``2.95 TB/s``; decimal multiples, as bandwidths are quoted."""
    return _with_unit(_rate(count, time_s), _DECIMAL) + "B/s"


def ratio(interval: IntervalLike) -> str:
    """``1.31× ± 0.02``: a speed-up and the half-width of its 95 % interval."""
    return _value_and_half(interval, mark="×")


def factor(interval: IntervalLike) -> str:
    """``1.31 ± 0.02``: a ratio as part of a sentence."""
    return _value_and_half(interval)


def number(value: float) -> str:
    """A plain number of an output: as many digits as tell a float32 from its neighbours."""
    return f"{_real(value):.9g}"


def integer(value: int) -> str:
    """``1048576`` → ``1,048,576``."""
    return f"{value:,}"


def _real(value: float) -> float:
    """``value``; infinite where it is an integer that no float holds, which a record may have."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _value_and_half(interval: IntervalLike, *, scale: float = 1.0, mark: str = "") -> str:
    # Intervals of ratios are symmetric in the logarithm only: the wider side is the honest one.
    half = max(interval.high - interval.value, interval.value - interval.low, 0.0) / scale
    value = interval.value / scale
    if not math.isfinite(half):
        return f"{_three(value)}{mark} ± ?"
    if half <= 0 or not math.isfinite(value):
        return f"{_three(value)}{mark}"
    # One digit of doubt, two where the first is a 1 (a doubt of 0.01 may be 0.005 … 0.015).
    exponent = math.floor(math.log10(half))
    decimals = -exponent + (1 if half < 2 * 10.0**exponent else 0)
    decimals = min(max(decimals, 0), _MAX_DECIMALS)
    # Rounded up, but for what is rounding itself: a doubt is not made smaller by printing it.
    doubt = math.ceil(half * 10.0**decimals - 1e-6) / 10.0**decimals
    return f"{value:.{decimals}f}{mark} ± {doubt:.{decimals}f}"


def _rate(amount: float, time_s: float) -> float:
    return amount / time_s if time_s > 0 else math.nan


def _with_unit(value: float, units: Sequence[tuple[float, str]]) -> str:
    scale, unit = _unit(value, units)
    return f"{_three(value / scale)} {unit}"


def _unit(value: float, units: Sequence[tuple[float, str]]) -> tuple[float, str]:
    """The largest unit of which ``value`` is at least 1 after rounding to three digits."""
    if value == 0 or not math.isfinite(value):
        return next(each for each in units if each[0] == 1.0)
    return next((each for each in units if abs(value) >= each[0] * 0.9995), units[-1])


def _three(value: float) -> str:
    """Three significant digits without an exponent; ``?`` for what is not a number."""
    if math.isnan(value):
        return "?"
    if abs(value) > 1e300:  # infinite, or so near to it that rounding would overflow
        return "∞" if value > 0 else "-∞"
    if value == 0:
        return "0"
    digits = 2 - math.floor(math.log10(abs(value)))
    rounded = round(value, digits)
    # 9.996 has become 10.0, which needs one decimal fewer.
    digits = 2 - math.floor(math.log10(abs(rounded))) if rounded else 0
    return f"{rounded:.{min(max(digits, 0), 12)}f}"
