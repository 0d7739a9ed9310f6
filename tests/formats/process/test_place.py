"""References compute on the card where they can: what they name, and what fails there."""

import gc
import weakref
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor, nn

from harness.formats.process import modes
from harness.formats.process.cutting import shapes_only
from harness.formats.process.measure import Noise
from harness.formats.process.place import Moved, Place


@pytest.fixture
def nowhere() -> Iterator[Place]:
    """A place with a card that has shapes alone, so that nothing can be copied from it."""
    before = torch.backends.cudnn.deterministic
    made = Place()
    made.take_card("meta")
    yield made
    torch.backends.cudnn.deterministic = before


MAKING: dict[str, Callable[[Tensor], Tensor]] = {
    "no device": lambda _: torch.zeros(3),
    "the processor": lambda _: torch.ones(3, device="cpu"),
    "the card": lambda _: torch.full((3,), 1.0, device="cuda"),
    "the card's number": lambda _: torch.empty(3, device=torch.device("cuda:0")),
    "as another": lambda x: torch.arange(3, device=x.device),
    "like another": torch.zeros_like,
    "a list": lambda _: torch.tensor([1.0, 2.0]),
    "moved": lambda x: x.to("cpu") + x.cuda() + x.cpu(),
    "a module's": lambda x: nn.functional.one_hot(torch.tensor([0, 2, 1], device=x.device), 3),
}


@pytest.mark.parametrize("making", MAKING.values(), ids=MAKING)
def test_what_is_made_there_is_made_on_the_card_whatever_it_names(
    nowhere: Place, making: Callable[[Tensor], Tensor]
) -> None:
    seen = []

    def reference(moved: Moved) -> dict[str, Tensor]:
        x = moved(torch.ones(3))
        seen.append((x.device.type, making(x).device.type if x.is_meta else ""))
        return {"y": x}

    nowhere.compute(reference)
    assert seen[0] == ("meta", "meta")


def test_what_fails_on_the_card_is_computed_on_the_processor_from_then_on(nowhere: Place) -> None:
    places = []

    def reference(moved: Moved) -> dict[str, Tensor]:
        x = moved(torch.ones(3))
        places.append(x.device.type)
        return {"y": x + 1}  # which nobody can copy from there

    for _ in range(2):
        assert nowhere.compute(reference)["y"].tolist() == [2.0] * 3
    assert places == ["meta", "cpu", "cpu"]
    assert not nowhere.leave_card()


def test_a_card_with_too_little_memory_is_tried_again(nowhere: Place) -> None:
    places = []

    def reference(moved: Moved) -> dict[str, Tensor]:
        places.append(moved(torch.ones(1)).device.type)
        if places[-1] == "meta":
            raise torch.OutOfMemoryError
        return {"y": torch.ones(1)}

    for _ in range(2):
        nowhere.compute(reference)
    assert places == ["meta", "cpu"] * 2
    assert nowhere.leave_card()


def test_what_fails_in_both_places_says_what_it_raised_on_the_card(nowhere: Place) -> None:
    def reference(moved: Moved) -> dict[str, Tensor]:
        raise TypeError(f"on {moved(torch.ones(1)).device.type}")

    with pytest.raises(TypeError, match="on meta"):
        nowhere.compute(reference)
    assert nowhere.leave_card()


def test_shapes_without_values_have_no_place(nowhere: Place) -> None:
    def reference(moved: Moved) -> dict[str, Tensor]:
        return {"y": moved(torch.rand(3)) * 2}

    with shapes_only():
        assert nowhere.compute(reference)["y"].is_meta
    assert nowhere.leave_card()


def test_errors_are_put_in_where_it_is_computed() -> None:
    x = torch.ones(3, dtype=torch.float64, device="meta")
    with Noise(1):
        assert (x * 2).is_meta


def test_without_a_card_nothing_is_moved() -> None:
    def reference(moved: Moved) -> dict[str, Tensor]:
        return {"y": moved(nn.Linear(2, 2)).weight.detach(), "z": torch.zeros(2, device="cpu")}

    found = Place().compute(reference)
    assert {x.device.type for x in found.values()} == {"cpu"}
    assert not torch.are_deterministic_algorithms_enabled()


def test_on_the_processor_factors_are_as_coarse_as_on_the_card_that_failed(nowhere: Place) -> None:
    x, w = torch.rand(1, 3, 9, 9), torch.rand(5, 3, 3, 3) - 0.5
    coarse = [each.view(torch.int32).bitwise_and(-8192).view(torch.float32) for each in (x, w)]

    def reference(moved: Moved) -> dict[str, Tensor]:
        a, b = moved(x), moved(w)
        product = a[0, 0] @ a[0, 1]  # whose factors torch lets nobody cut unless it is told to
        wide = nn.functional.conv2d(a.double(), b.double())
        return {"convolution": nn.functional.conv2d(a, b), "product": product, "wide": wide}

    exact = Place().compute(reference)
    found = [nowhere.compute(reference) for _ in range(2)]  # there; then for a card that was left
    for each in found:
        assert torch.equal(each["convolution"], nn.functional.conv2d(*coarse))
        assert torch.equal(each["product"], exact["product"])
        assert torch.equal(each["wide"], exact["wide"])
    assert torch.equal(exact["convolution"], nn.functional.conv2d(x, w))
    assert not torch.equal(exact["convolution"], found[0]["convolution"])


def test_products_are_cut_where_torch_is_told_to(
    nowhere: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(modes, "_of_products", lambda: True)
    x = torch.rand(4, 4)
    found = nowhere.compute(lambda moved: {"y": torch.addmm(moved(x), moved(x), moved(x))})
    coarse = x.view(torch.int32).bitwise_and(-8192).view(torch.float32)
    assert torch.equal(found["y"], torch.addmm(x, coarse, coarse))


def test_what_an_error_on_the_card_came_through_is_let_go(card: Place) -> None:
    """A frame in a circle with its error would keep what its callers hold, too."""
    held: list[weakref.ref[Tensor]] = []

    def caller() -> None:
        inputs = torch.ones(3)
        held.append(weakref.ref(inputs))

        def reference(moved: Moved) -> dict[str, Tensor]:
            if len(held) == 1:
                held.append(held[0])
                raise torch.OutOfMemoryError
            return {"y": moved(inputs) + 1}

        card.compute(reference)

    gc.disable()
    try:
        caller()
        assert held[0]() is None
    finally:
        gc.enable()
