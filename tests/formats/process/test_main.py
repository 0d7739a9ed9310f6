"""The process of a problem, without a process."""

import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from formats.kernelbench_problems import HEAD
from support.foreign import written

from harness.formats.messages import DescribeCases
from harness.formats.process import kernelbench, place
from harness.formats.process.main import ForeignAuthor

CROWDED = """
from harness.formats.process import place

class Model(nn.Module):
    def forward(self, x):
        if place.PLACE.draws:
            raise torch.OutOfMemoryError
        return x + torch.are_deterministic_algorithms_enabled()

def get_inputs():
    return [torch.rand(100, 40)]

def get_init_inputs():
    return []
"""


def test_a_card_without_room_for_inputs_and_answers_computes_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.backends.cudnn, "deterministic", False)
    here = place.Place()
    here.take_card("cpu")
    for module in (place, kernelbench):
        monkeypatch.setattr(module, "PLACE", here)
    author = ForeignAuthor(tmp_path)
    author._loaded = one = kernelbench.KernelBench(written(tmp_path, "1_a.py", HEAD + CROWDED))
    told: Any = author.answer(DescribeCases(small=False), [])
    assert here.has_card and not told.on_card
    inputs = one.draw("inputs=1", 3, small=False)
    (right,) = one.answers("inputs=1", inputs, 1, small=False).values()
    assert torch.equal(right, inputs["x"].double() + 1)  # on the card


def test_a_card_that_is_left_has_all_its_memory_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the processor does what a card had no room for, which takes minutes."""
    monkeypatch.setattr(torch.backends.cudnn, "deterministic", False)
    here = place.Place()
    here.take_card("cpu")
    monkeypatch.setattr(place, "PLACE", here)
    alive: list[weakref.ref[torch.Tensor]] = []
    events: list[object] = []

    def describe(*, small: bool) -> Any:
        large = torch.zeros(10)
        alive.append(weakref.ref(large))
        events.append("described")
        if here.has_card:
            raise torch.OutOfMemoryError(f"no room beside {large.numel()}")
        return "cases"

    def given_back() -> None:
        events.append([each() is not None for each in alive])

    monkeypatch.setattr(torch.cuda.memory, "empty_cache", given_back)
    author = ForeignAuthor(tmp_path)
    author._loaded = SimpleNamespace(describe=describe)  # type: ignore[assignment]
    answer: Any = author.answer(DescribeCases(small=False), [])
    author.tidy()
    assert answer == "cases"
    assert events == ["described", [False], "described", [False, False]]
