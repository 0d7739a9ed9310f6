"""Every element is checked, and nothing that is not a right number passes for one."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.judge import compare as module
from harness.judge.compare import all_surely_right, compare, compare_all, surely_right
from harness.problem.terms import Expectation, Streamed, Stretch
from harness.records.cases import Element

NAN, INF = math.nan, math.inf


def check(got, expected, allowed, dtype=torch.float32):
    expected = torch.tensor(expected, dtype=torch.float64)
    return compare(
        "y",
        torch.tensor(got, dtype=dtype),
        expected,
        torch.tensor(allowed, dtype=torch.float64).expand_as(expected),
    )


@pytest.mark.parametrize(
    ("got", "expected", "allowed", "right"),
    [
        (1.0, 1.0, 0.0, True),
        (1.0, 1.5, 0.5, True),
        (1.0, 1.5, 0.499, False),
        (-0.0, 0.0, 0.0, True),
        (NAN, 1.0, INF, False),
        (NAN, 1.0, 1.0, False),
        (NAN, NAN, 1.0, True),
        (NAN, INF, INF, False),
        (1.0, NAN, 1.0, False),
        (1.0, NAN, NAN, False),
        (INF, NAN, NAN, False),
        (1.0, 1.0, NAN, True),
        (1.0, 1.0, INF, True),
        (1.0, 1.0 + 1e-6, INF, True),  # its last digits, since nothing finite is known
        (1.0, 1.0 + 1e-5, INF, False),
        (1.0, 2.0, INF, False),
        (0.0, 1.0, INF, False),
        (1e-30, 0.0, NAN, False),
        (1.0, INF, NAN, False),
        (1.0, -INF, INF, False),
        (INF, 1.0, 1.0, False),
        (INF, 1.0, NAN, False),
        (INF, INF, INF, True),
        (INF, INF, NAN, True),
        (-INF, INF, INF, False),
        (3e38, INF, INF, False),
        (INF, 1e39, 1e32, True),
        (-INF, -1e39, 1e32, True),
        (-INF, 1e39, 1e32, False),
        (3.4e38, 1e39, 1e32, False),
        (INF, 3.4028e38, 1e34, True),
        (3.4028e38, 3.4028e38, 1e34, True),
        (INF, 3.3e38, 1e34, False),
    ],
)
def test_one_element(got: float, expected: float, allowed: float, right: bool) -> None:
    assert (check([got], [expected], [allowed]) is None) is right


def test_overflow_is_that_of_the_outputs_type() -> None:
    assert check([INF], [7e4], [1.0], torch.float16) is None
    assert check([INF], [65510.0], [20.0], torch.float16) is None
    assert check([INF], [6e4], [1.0], torch.float16) is not None
    assert check([65504.0], [7e4], [1.0], torch.float16) is not None
    assert check([INF], [7e4], [1.0], torch.bfloat16) is not None


def test_first_and_worst() -> None:
    mismatch = check(
        [[0.0, 1.0, 2.5], [3.0, 9.0, 5.0]],
        [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]],
        [[0.1, 0.1, 0.1], [0.1, 0.2, 0.1]],
    )
    assert mismatch is not None
    assert (mismatch.parameter, mismatch.differing, mismatch.total) == ("y", 2, 6)
    assert mismatch.first == Element(index=(0, 2), expected=2, got=2.5, allowed=0.1)
    assert mismatch.worst == Element(index=(1, 1), expected=4, got=9, allowed=0.2)


def test_nan_is_the_worst() -> None:
    mismatch = check([9.0, NAN, 1e30], [0.0, 0.0, 0.0], [0.0, 1.0, 1.0])
    assert mismatch is not None
    assert mismatch.worst.index == (1,)
    assert math.isnan(mismatch.worst.got)
    assert mismatch.first.index == (0,)


def test_integers_are_exact() -> None:
    big = 2**53 + 1
    expected, allowed = torch.tensor([big, 2]), torch.zeros(2, dtype=torch.float64)
    assert compare("y", torch.tensor([big, 2]), expected, allowed) is None
    mismatch = compare("y", torch.tensor([big - 1, 2]), expected, allowed)
    assert mismatch is not None
    assert mismatch.differing == 1
    flags = compare("y", torch.tensor([True, False]), torch.tensor([1, 1]), allowed)
    assert flags is not None
    assert flags.first.index == (1,)


@pytest.mark.parametrize(
    "name", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
)
def test_every_kind_of_integer_is_exact_at_both_ends(name: str) -> None:
    dtype = getattr(torch, name)
    ends = torch.tensor([torch.iinfo(dtype).min, 0, torch.iinfo(dtype).max], dtype=dtype)
    expected, allowed = ends.to(torch.int64), torch.zeros(3, dtype=torch.float64)
    assert compare("y", ends, expected, allowed) is None
    mismatch = compare("y", ends, expected + torch.tensor([0, 0, -1]), allowed)
    assert mismatch is not None
    assert mismatch.first.index == (2,)
    largest = torch.iinfo(dtype).max
    assert (mismatch.first.expected, mismatch.first.got) == (largest - 1, largest)


def test_a_byte_that_is_no_boolean_is_wrong() -> None:
    got = torch.tensor([0, 1, 255, 2], dtype=torch.uint8)
    expected, allowed = torch.tensor([False, True, True, True]), torch.zeros(4).double()
    mismatch = compare("y", got, expected, allowed)
    assert mismatch is not None
    assert (mismatch.differing, mismatch.first.index, mismatch.first.got) == (2, (2,), 255)
    assert compare("y", torch.tensor([0, 1, 1, 1], dtype=torch.uint8), expected, allowed) is None
    flipped = compare("y", ~expected, expected, allowed)
    assert flipped is not None and flipped.differing == 4


def test_doubles_have_their_own_last_digits() -> None:
    assert check([1.0], [1.0 + 1e-12], [1e-13], torch.float64) is not None
    assert check([1.0], [1.0 + 1e-15], [INF], torch.float64) is None
    assert check([1.0], [1.0 + 1e-14], [INF], torch.float64) is not None
    assert check([INF], [1.7e308], [1.0], torch.float64) is not None


def complex_check(got, expected, allowed, dtype=torch.complex64):
    return compare(
        "y",
        torch.tensor([got], dtype=dtype),
        torch.tensor([expected], dtype=torch.complex128),
        torch.tensor([allowed], dtype=torch.float64),
    )


@pytest.mark.parametrize(
    ("got", "expected", "allowed", "right"),
    [
        (1 + 1j, 1 + 1j, 0.0, True),
        (1.3 + 1.4j, 1 + 1j, 0.5001, True),  # a distance of 0.5
        (1.3 + 1.4j, 1 + 1j, 0.4999, False),
        (1 - 1j, 1 + 1j, 1.0, False),
        (1 + 1j, 1 + 0j, 0.5, False),
        (complex(NAN, 1), 1 + 1j, 9.0, False),
        (complex(1, INF), 1 + 1j, 9.0, False),
        (complex(NAN, 1), complex(NAN, 1), 0.0, True),
        (complex(NAN, 1.5), complex(NAN, 1), 0.1, False),
        (complex(NAN, 1.5), complex(NAN, 1), 1.0, True),
        (complex(NAN, 1), complex(NAN, 1), NAN, True),
        (complex(NAN, 2), complex(NAN, 1), NAN, False),
        (complex(INF, 1), complex(INF, 1), INF, True),
        (complex(-INF, 1), complex(INF, 1), INF, False),
        (complex(INF, INF), complex(INF, 1), INF, False),
        (complex(1, 1), complex(INF, 1), INF, False),
        (complex(INF, 2), complex(1e39, 2), 1.0, True),
        (complex(INF, 9), complex(1e39, 2), 1.0, False),
        (complex(INF, 2), complex(1e38, 2), 1.0, False),
        (1 + 1j, 1 + 1j, INF, True),
        (1 + 2j, 1 + 1j, INF, False),
    ],
)
@pytest.mark.parametrize("part", ["as it is", "conjugate", "turned"])
def test_one_complex_element(got, expected, allowed, right, part) -> None:
    if part == "conjugate":
        got, expected = got.conjugate(), expected.conjugate()
    if part == "turned":
        got, expected = complex(got.imag, got.real), complex(expected.imag, expected.real)
    assert (complex_check(got, expected, allowed) is None) is right


def test_a_complex_mismatch_has_both_parts() -> None:
    mismatch = complex_check(1 + 2j, 1 - 2j, 0.5, torch.complex128)
    assert mismatch is not None
    first = mismatch.first
    assert (first.expected, first.expected_imag) == (1, -2)
    assert (first.got, first.got_imag, first.allowed) == (1, 2, 0.5)
    real = check([1.0], [2.0], [0.0])
    assert real is not None
    assert (real.first.expected_imag, real.first.got_imag) == (None, None)


def test_a_real_reference_of_a_complex_output() -> None:
    two = torch.tensor([2.0], dtype=torch.float64)
    assert compare("y", torch.tensor([2 + 0j]), two, two * 0) is None
    assert compare("y", torch.tensor([2 + 1j]), two, two * 0) is not None


def test_shapes_and_kinds_must_agree() -> None:
    one, two = torch.zeros(1), torch.zeros(2, dtype=torch.float64)
    with pytest.raises(ValueError, match="cannot be compared"):
        compare("y", one, two, two)
    with pytest.raises(ValueError, match=r"on cpu cannot be compared with .* on meta"):
        compare("y", two, two.to("meta"), two)
    with pytest.raises(ValueError, match="complex"):
        compare("y", two, torch.zeros(2, dtype=torch.complex128), two)


def test_empty_and_strided() -> None:
    empty = torch.zeros(0, 3, dtype=torch.float64)
    assert compare("y", empty.float(), empty, empty) is None
    square = torch.arange(6.0).reshape(2, 3)
    zeros = torch.zeros(3, 2, dtype=torch.float64)
    assert compare("y", square.T, square.T.double(), zeros) is None
    assert compare("y", square.T, (square + 1).T.double(), zeros) is not None


_values = st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0, 3e38, 1e39, -1e39, INF, -INF, NAN])
_allowances = st.sampled_from([0.0, 0.5, 1.0, 1e38, INF, NAN])


def right(got: float, expected: float, allowed: float) -> bool:
    """The rules of the module's docstring, one by one."""
    if math.isnan(got) or math.isnan(expected):
        return math.isnan(got) and math.isnan(expected)
    largest = torch.finfo(torch.float32).max
    if not math.isfinite(allowed):
        allowed = 32 * 2**-24 * abs(expected)
    if math.isinf(got):
        too_large = abs(expected) + allowed > largest
        return (math.isinf(expected) or too_large) and (got > 0) == (expected > 0)
    return math.isfinite(expected) and abs(got - expected) <= allowed


@settings(deadline=None)
@given(st.data(), st.integers(1, 4), st.integers(1, 5), st.integers(1, 7))
def test_agrees_with_a_plain_loop(data, rows: int, columns: int, chunk: int) -> None:
    def draw(values, dtype):
        flat = data.draw(st.lists(values, min_size=rows * columns, max_size=rows * columns))
        return torch.tensor(flat, dtype=dtype).reshape(rows, columns)

    got = draw(_values, torch.float32)
    expected, allowed = draw(_values, torch.float64), draw(_allowances, torch.float64)
    wrong = [
        (i, j)
        for i in range(rows)
        for j in range(columns)
        if not right(got[i, j].item(), expected[i, j].item(), allowed[i, j].item())
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHUNK", chunk)
        mismatch = compare("y", got, expected, allowed)
    if not wrong:
        assert mismatch is None
        return
    assert mismatch is not None
    assert mismatch.differing == len(wrong)
    assert mismatch.first.index == wrong[0]
    assert mismatch.worst.index in wrong


@pytest.mark.gpu
def test_answers_come_from_the_host_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.judge.compare.CHUNK", 100)
    expected = torch.arange(1000.0, dtype=torch.float64)
    allowed = torch.full_like(expected, 0.25)
    got = expected.float().cuda()
    assert compare("y", got, expected, allowed) is None
    assert bool(surely_right(got, expected, allowed))
    got[[350, 720]] += torch.tensor([1.0, 2.0], device="cuda")
    found = compare("y", got, expected, allowed)
    assert found is not None
    assert (found.differing, found.first.index, found.worst.index) == (2, (350,), (720,))
    assert (found.worst.expected, found.worst.got, found.worst.allowed) == (720, 722, 0.25)
    assert not bool(surely_right(got, expected, allowed))


@dataclass
class Cut:
    """What is right, cut into pieces of these lengths, then into the rest."""

    expected: torch.Tensor
    allowed: torch.Tensor
    lengths: list[int]
    passes: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.expected.shape)

    def __iter__(self) -> Iterator[Stretch]:
        self.passes += 1
        whole, off, start = self.expected.reshape(-1), self.allowed.reshape(-1), 0
        for length in (*self.lengths, len(whole)):
            if part := len(whole[start : start + length]):
                yield Stretch(start, whole[start : start + part], off[start : start + part])
            start += part


@settings(deadline=None)
@given(
    st.data(), st.integers(0, 4), st.integers(1, 5), st.integers(1, 7),
    st.lists(st.integers(1, 9), max_size=5), st.booleans(),
)  # fmt: skip
def test_what_comes_in_pieces_is_compared_as_if_it_were_whole(
    data, rows: int, columns: int, chunk: int, lengths: list[int], whole_numbers: bool
) -> None:
    def draw(values, dtype):
        flat = data.draw(st.lists(values, min_size=rows * columns, max_size=rows * columns))
        return torch.tensor(flat, dtype=dtype).reshape(rows, columns)

    if whole_numbers:
        few = st.integers(-1, 1)
        got, expected = draw(few, torch.int32), draw(few, torch.int64)
        allowed = torch.zeros(rows, columns, dtype=torch.float64)
    else:
        got = draw(_values, torch.float32)
        expected, allowed = draw(_values, torch.float64), draw(_allowances, torch.float64)
    streamed = {"y": Streamed(Cut(expected, allowed, lengths))}
    known = {"y": Expectation(expected=expected, allowed=allowed)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHUNK", chunk)
        # As text, since NaN is not NaN.
        assert repr(compare_all({"y": got}, streamed)) == repr(compare_all({"y": got}, known))
        assert bool(all_surely_right({"y": got}, streamed)) == bool(
            all_surely_right({"y": got}, known)
        )
    if rows:
        assert torch.equal(streamed["y"].allowed.nan_to_num(2), allowed.nan_to_num(2))


def test_right_answers_in_pieces_are_asked_for_once() -> None:
    expected = torch.arange(12.0, dtype=torch.float64).reshape(4, 3)
    pieces = Cut(expected, torch.zeros_like(expected), [3, 3, 3])
    got = expected.float()
    assert compare_all({"y": got}, {"y": Streamed(pieces)}) is None
    assert pieces.passes == 1
    got[[2, 3], [1, 2]] += torch.tensor([1.0, 2.0])
    found = compare_all({"y": got}, {"y": Streamed(pieces)})
    assert found is not None
    assert (found.differing, found.total, found.first.index) == (2, 12, (2, 1))
    assert (found.worst.index, found.worst.expected, found.worst.got) == ((3, 2), 11, 13)
    assert pieces.passes == 3


@pytest.mark.parametrize("change", ["short", "long", "gap", "allowed"])
def test_pieces_that_are_not_all_of_an_output_are_no_verdict(change: str) -> None:
    class Odd(Cut):
        def __iter__(self) -> Iterator[Stretch]:
            first, second = super().__iter__()
            yield first
            if change == "long":
                yield second._replace(expected=torch.zeros(9).double(), allowed=torch.zeros(9))
            elif change == "gap":
                yield second._replace(start=4)
            elif change == "allowed":
                yield second._replace(allowed=second.allowed[:1])

    zeros = torch.zeros(6, dtype=torch.float64)
    streamed = {"y": Streamed(Odd(zeros, zeros, [3]))}
    with pytest.raises(ValueError, match="expected"):
        compare_all({"y": zeros.float()}, streamed)
    with pytest.raises(ValueError, match="cannot be compared"):
        compare_all({"y": zeros[:5].float()}, streamed)


@pytest.mark.parametrize(("said", "right"), [(True, True), (False, False), (None, True)])
def test_one_who_can_tell_is_asked_first(said: bool | None, right: bool) -> None:
    asked = []

    def within(got: torch.Tensor, want: Expectation) -> torch.Tensor | None:
        asked.append((got, want))
        return None if said is None else torch.tensor(said)

    outputs, known = {"y": torch.ones(3)}, around(1.0)
    assert bool(all_surely_right(outputs, known, within)) == right
    assert asked == [(outputs["y"], known["y"])]


def around(center: float, otherwise: object = None) -> dict[str, Expectation]:
    expected = torch.full((3,), center, dtype=torch.float64)
    return {
        "y": Expectation(
            expected=expected,
            allowed=torch.full_like(expected, 0.1),
            otherwise=otherwise,  # type: ignore[arg-type]
        )
    }


@pytest.mark.parametrize(("got", "right"), [(1.0, True), (2.0, True), (1.5, False)])
def test_what_is_wrong_is_looked_at_by_what_is_right_otherwise(got: float, right: bool) -> None:
    asked = []

    def other() -> dict[str, Expectation]:
        asked.append(got)
        return around(2.0)

    found = compare_all({"y": torch.full((3,), got)}, around(1.0, other))
    assert (found is None) == right
    assert len(asked) == (got != 1.0)
    assert compare_all({"y": torch.full((3,), 2.0)}, around(1.0, lambda: None)) is not None
