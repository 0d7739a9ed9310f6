"""Numbers as people read them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.records.measurement import Interval
from harness.text import numbers


def _interval(value: float, half: float) -> Interval:
    return Interval(value=value, low=value - half, high=value + half)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1.23e-5, "12.3 µs"),
        (0.0, "0 s"),
        (1e-9, "1.00 ns"),
        (9.994e-7, "999 ns"),
        (9.996e-7, "1.00 µs"),
        (9.996e-6, "10.0 µs"),
        (0.0123, "12.3 ms"),
        (99.96, "100 s"),
        (3600.0, "3600 s"),
        (-2e-6, "-2.00 µs"),
        (math.nan, "? s"),
        (math.inf, "∞ s"),
    ],
)
def test_seconds_are_shown_in_a_fitting_unit(value: float, shown: str) -> None:
    assert numbers.seconds(value) == shown


@pytest.mark.parametrize(
    ("interval", "shown"),
    [
        (_interval(1.31, 0.02), "1.31× ± 0.02"),
        (_interval(1.3123, 0.0035), "1.312× ± 0.004"),
        (_interval(0.5, 0.0011), "0.5000× ± 0.0011"),
        (_interval(12.0, 3.0), "12× ± 3"),
        (_interval(1.0, 0.0), "1.00×"),
        (Interval(value=1.31, low=1.30, high=1.36), "1.31× ± 0.05"),
        (Interval(value=1.31, low=0.0, high=math.inf), "1.31× ± ?"),
    ],
)
def test_a_ratio_is_shown_as_precisely_as_its_interval(interval: Interval, shown: str) -> None:
    assert numbers.ratio(interval) == shown


def test_seconds_with_their_interval() -> None:
    assert numbers.seconds_interval(_interval(1.231e-5, 4e-8)) == "12.31 ± 0.04 µs"
    assert numbers.seconds_interval(_interval(2.5e-3, 1.2e-4)) == "2.50 ± 0.12 ms"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1500, "1.46 KiB"),
        (232_448, "227 KiB"),
        (2**31, "2 GiB"),
    ],
)
def test_bytes_are_shown_in_a_fitting_unit(value: float, shown: str) -> None:
    assert numbers.bytes_(value) == shown


def test_counts_have_the_plural_of_their_noun() -> None:
    assert numbers.counted(1, "result") == "1 result"
    assert numbers.counted(0, "result") == "0 results"
    assert numbers.counted(1, "entry", "entries") == "1 entry"
    assert numbers.counted(2, "entry", "entries") == "2 entries"


def test_rates_are_shown_in_a_fitting_unit() -> None:
    assert numbers.flop_rate(2 * 4096**3, 4.4e-4) == "312 TFLOP/s"
    assert numbers.byte_rate(2.95e9, 1e-3) == "2.95 TB/s"
    assert numbers.byte_rate(500e9, 1.0) == "500 GB/s"
    assert numbers.flop_rate(1, 0) == "? FLOP/s"


def test_a_number_has_the_digits_of_a_float32() -> None:
    assert numbers.number(1.00000012) == "1.00000012"
    assert numbers.number(math.nan) == "nan"


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_any_number_can_be_shown(value: float) -> None:
    for shown in (numbers.seconds(value), numbers.bytes_(value), numbers.flop_rate(value, 1.0)):
        assert shown
        assert "\n" not in shown


@given(st.floats(1e-9, 1e6), st.floats(1e-6, 2.0))
def test_a_half_width_is_never_shown_smaller_than_it_is(value: float, relative: float) -> None:
    half = value * relative
    shown = numbers.ratio(Interval(value=value, low=0.0, high=value + half))
    _, _, doubt = shown.partition("± ")
    assert float(doubt) >= half * (1 - 1e-5) - 1e-9


def test_integers_that_no_float_holds() -> None:
    huge = 10**400
    assert numbers.bytes_(huge) == "∞ B"
    assert numbers.number(-huge) == "-inf"
