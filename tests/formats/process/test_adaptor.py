"""How exact a reference is found to be, and how answers are compared with those in float64."""

import pytest
import torch

from harness.formats import rounding
from harness.formats.process.adaptor import Exactness, Tensors, agree, same, tried_wide


def test_moving_an_input_to_a_card_is_no_rounding() -> None:
    x = torch.rand(5)

    def moved() -> Tensors:
        assert x.to("meta").is_meta
        return {"y": x.double() * 2}

    found = tried_wide(moved, {"y": x * 2}, 1e-4, 1e-4)
    assert found == Exactness(wide=True, rounded=False)
    rounding = tried_wide(lambda: {"y": (x * 2).double()}, {"y": x * 2}, 1e-4, 1e-4)
    assert rounding == Exactness(wide=True, rounded=True)


def test_a_card_that_is_full_is_no_lack_of_the_reference() -> None:
    def full() -> Tensors:
        raise torch.OutOfMemoryError

    with pytest.raises(torch.OutOfMemoryError):
        tried_wide(full, {}, 0.0, 0.0)


def test_tensors_are_compared_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounding, "_CHUNK", 4)
    x = torch.arange(30.0).view(5, 6).t()
    x[2, 3] = torch.nan
    exact = x.double()
    assert same({"y": x}, {"y": x.clone()})
    assert agree({"y": x}, {"y": exact}, 0.0, 0.0)
    for place in ((0, 0), (2, 3), (5, 4)):
        off = exact.clone()
        off[place] = -1.0
        assert not agree({"y": x}, {"y": off}, 0.0, 0.0)
        assert not same({"y": x}, {"y": off.float()})
    assert not agree({"y": x}, {"y": exact.t()}, 0.0, 0.0)
