"""The process of a problem, without a process."""

import itertools
import os
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from formats.kernelbench_problems import HEAD
from support.foreign import written

from harness.formats.messages import DescribeCases, DrawInputs, DrawPiece, PlacedTensor
from harness.formats.process import model_file
from harness.formats.process.adaptor import MistakeError
from harness.formats.process.kernelbench import KernelBench
from harness.formats.process.main import ForeignAuthor
from harness.formats.process.place import Place
from harness.formats.process.tested import Tested
from harness.wire.memory import sealed_memory

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
    card: Place, tmp_path: Path
) -> None:
    author = ForeignAuthor(tmp_path)
    author._loaded = one = KernelBench(written(tmp_path, "1_a.py", HEAD + CROWDED))
    told: Any = author.answer(DescribeCases(small=False), [])
    assert card.has_card and not told.on_card
    inputs = one.draw("inputs=1", 3, small=False)
    (right,) = one.answers("inputs=1", inputs, 1, small=False).values()
    assert torch.equal(right, inputs["x"].double() + 1)  # on the card


@pytest.mark.parametrize("dim", [0, 1])
def test_a_card_without_room_for_answers_has_them_in_the_hosts_memory(
    card: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dim: int
) -> None:
    """And the inputs all the same: answers are compared there, and computed on the card."""
    monkeypatch.setattr(model_file, "LARGE", 0)
    text = CROWDED.replace("place.PLACE.draws", "len(x) > 50 and place.PLACE.draws and FULL")
    text = text.replace("FULL", "not place.PLACE.keeps_apart")
    text = text.replace("return x +", f"return torch.softmax(x, {dim}) +")
    author = ForeignAuthor(tmp_path)
    author._loaded = one = KernelBench(written(tmp_path, "1_a.py", HEAD + text))
    told: Any = author.answer(DescribeCases(small=False), [])
    assert told.on_card and card.has_card and not card.keeps_apart
    assert told.cases[0].by_rows == (dim == 1)
    card.draw_there()
    inputs = one.draw("inputs=1", 3, small=False)
    with card.keeping_answers():
        (right,) = one.answers("inputs=1", inputs, 1, small=False).values()
    assert torch.equal(right, torch.softmax(inputs["x"].double(), dim) + 1)  # on the card


def test_a_few_rows_stand_for_all_where_there_is_no_room_for_those(
    card: Place, tmp_path: Path
) -> None:
    text = CROWDED.replace("place.PLACE.draws:", "len(x) > 5 and place.PLACE.draws:")
    text = text.replace("return x +", "SEEN.append((x.dtype, len(x)))\n        return x +")
    author = ForeignAuthor(tmp_path)
    author._loaded = one = KernelBench(written(tmp_path, "1_a.py", HEAD + "SEEN = []\n" + text))
    told: Any = author.answer(DescribeCases(small=False), [])
    assert told.on_card and card.has_card
    seen = one._file(False)._model.forward.__globals__["SEEN"]
    narrow = [count for dtype, count in seen if dtype is torch.float32]
    assert narrow == [1, 1] * 3  # called three times
    shapes = [tuple(each.shape) for each in told.cases[0].tensors]
    assert (told.cases[0].by_rows, shapes) == (True, [(100, 40), (100, 40)])


FULL = """
from harness.formats.process import place

class Model(nn.Module):
    def forward(self, x):
        return x * 2

def get_inputs():
    if place.PLACE.draws and ROOM:
        ROOM.pop()
        raise torch.OutOfMemoryError
    DRAWN.append(1)
    return [torch.rand(4) + 10 * place.PLACE.draws]

def get_init_inputs():
    return []

DRAWN, ROOM = [], []
"""


def test_inputs_that_go_to_the_host_may_be_drawn_there_and_are_the_same_each_time(
    card: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.Tensor, "is_cuda", property(lambda _: True))  # as problems see it
    author = ForeignAuthor(tmp_path)
    author._loaded = one = KernelBench(written(tmp_path, "1_a.py", HEAD + FULL))
    names = one._file(False)._get_inputs.__globals__
    full = names["ROOM"]

    def drawn(seed: int, *, lies_there: bool = False) -> torch.Tensor:
        size = 4 * 4
        fd = sealed_memory("test", 64)
        tensor = PlacedTensor(name="x", dtype="float32", shape=(4,), strides=(1,), offset=0)
        message = DrawInputs(
            case="inputs=1",
            small=False,
            seed=seed,
            tensors=(tensor,),
            on_card=lies_there,
            drawn_on_card=True,
        )
        try:
            author.answer(message, [fd])
            return torch.frombuffer(bytearray(os.pread(fd, size, 0)), dtype=torch.float32)
        finally:
            os.close(fd)

    first = drawn(1)
    assert bool((first >= 10).all())
    full.append(1)
    second = drawn(2)
    assert bool((second < 10).all()) and not full
    assert torch.equal(drawn(2), second) and torch.equal(drawn(1), first)
    full.append(1)
    with pytest.raises(torch.OutOfMemoryError):
        drawn(1)  # it would be another one
    full.append(1)
    with pytest.raises(torch.OutOfMemoryError):
        drawn(3, lies_there=True)
    full.clear()

    def piece(seed: int, start: int, shape: tuple[int, ...] = (4,)) -> list[float]:
        fd = sealed_memory("test", 64)
        tensor = PlacedTensor(name="x", dtype="float32", shape=(2,), strides=(1,), offset=8)
        message = DrawPiece(
            case="inputs=1", small=False, seed=seed, piece=tensor, shape=shape, start=start
        )
        try:
            author.answer(message, [fd])
            return torch.frombuffer(bytearray(os.pread(fd, 8, 8)), dtype=torch.float32).tolist()
        finally:
            os.close(fd)

    for seed, whole in ((1, first), (2, second)):
        assert piece(seed, 0) + piece(seed, 2) == whole.tolist()
    full.append(1)
    count = len(names["DRAWN"])
    assert piece(2, 1) == second[1:3].tolist()
    assert len(names["DRAWN"]) == count  # what the processor has drawn is held
    author.answer(DescribeCases(small=False), [])
    full.append(1)
    with pytest.raises(torch.OutOfMemoryError):
        piece(1, 0)
    with pytest.raises(MistakeError, match=r"x is \(4,\) now, and was \(5,\) before"):
        piece(2, 0, (5,))


def test_a_card_that_is_left_has_all_its_memory_back(
    card: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the processor does what a card had no room for, which takes minutes."""
    alive: list[weakref.ref[torch.Tensor]] = []
    events: list[object] = []

    def describe(*, small: bool) -> Any:
        large = torch.zeros(10)
        alive.append(weakref.ref(large))
        events.append("described")
        if card.has_card:
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


def test_a_package_that_fails_in_words_of_its_own_is_named_by_what_is_missing(
    tmp_path: Path,
) -> None:
    author = ForeignAuthor(tmp_path)

    def failed(*errors: Exception) -> str:
        for error, cause in itertools.pairwise(errors):
            error.__cause__ = cause
        answer: Any = author.failed(errors[0])
        return str(answer.reason)

    own, missing = ModuleNotFoundError("no Model.\nInstall it"), ModuleNotFoundError(name="inner")
    assert failed(missing) == "needs the package inner, which is not installed"
    assert failed(own, RuntimeError(), missing) == failed(missing)
    own = ModuleNotFoundError("no Model.\nInstall it")
    assert failed(own) == "a package that it needs cannot be imported here: no Model."


def test_a_check_that_has_no_memory_says_nothing_of_outputs() -> None:
    one = Raising()
    for error in (MemoryError(), RuntimeError("[enforce fail] can't allocate memory: 8 bytes")):
        one.error = error
        with pytest.raises(type(error)):
            one.check("test=1", {"x": torch.ones(3)}, {}, small=False)
    one.error = ValueError("a shape")
    assert one.check("test=1", {"x": torch.ones(3)}, {}, small=False) is False


class Raising(Tested):
    """A format whose check raises."""

    error: Exception

    def keys(self) -> list[str]:
        return ["test=1"]

    def drawn(self, key: str, seed: int, factor: int) -> dict[str, Any]:
        return {"x": torch.ones(3)}

    def evaluated(self, key: str, values: Any) -> dict[str, torch.Tensor]:
        return {"y": values["x"] * 2}

    def rule(self, key: str, values: Any, right: Any) -> None:
        return None

    def is_right(self, key: str, values: Any, outputs: Any) -> bool:
        raise self.error
