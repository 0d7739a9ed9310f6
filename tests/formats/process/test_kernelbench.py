"""What KernelBench's files are held to, and how their references compute on a small card."""

from pathlib import Path

import pytest
import torch
from formats.kernelbench_problems import HEAD, SCALED
from support.foreign import written

from harness.formats import versions
from harness.formats.process.kernelbench import KernelBench
from harness.formats.process.place import Place
from harness.formats.versions import Version


@pytest.mark.parametrize(
    ("version", "tolerance"),
    [
        (None, 1e-4),
        (Version("2222222", "v0.1"), 1e-4),
        (Version("1111111", "v0"), 1e-2),
        (Version("1111112", "v0, July 2025"), 1e-2),
    ],
)
def test_the_first_version_has_a_tolerance_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: Version | None, tolerance: float
) -> None:
    monkeypatch.setattr(versions, "version_of", lambda _: version)
    told = KernelBench(written(tmp_path, "1_a.py", HEAD + SCALED)).describe(small=True)
    assert (told.rtol, told.atol) == (tolerance, tolerance)
    assert all(each.rtol is None and each.atol is None for each in told.cases)


SMALL_CARD = """
SEEN = []

class Model(nn.Module):
    def forward(self, x):
        on_card = torch.are_deterministic_algorithms_enabled()
        if on_card and x.dtype == torch.float64 and len(x) > ROOM:
            raise torch.OutOfMemoryError
        SEEN.append((on_card, x.dtype, len(x)))
        return FORMULA

def get_inputs():
    return [torch.rand(100, 40)]

def get_init_inputs():
    return []
"""
BY_ROWS = {
    "softmax": "torch.softmax(x, dim=1)",
    "two": "x.sum(dim=1), x.argmax(dim=1)",
    "flags": "x > 0.5",
}
COUPLED = {
    "over rows": "torch.softmax(x, dim=0)",
    "a number": "x.sum()",
    "as many": "x / len(x)",
    "turned": "x.flip(0)",
    "joined": "x.t()",
}


@pytest.mark.parametrize("room", [20, 3])
@pytest.mark.parametrize("formula", BY_ROWS.values(), ids=BY_ROWS)
def test_rows_that_a_card_has_no_room_for_are_computed_in_parts(
    card: Place, tmp_path: Path, formula: str, room: int
) -> None:
    text = HEAD + SMALL_CARD.replace("FORMULA", formula).replace("ROOM", str(room))
    one = KernelBench(written(tmp_path, "1_a.py", text))
    told = one.describe(small=False)
    assert told.on_card and card.has_card
    assert "reference: float32" not in told.claims
    inputs = one.draw("inputs=1", 5, small=False)
    right = one.answers("inputs=1", inputs, 1, small=False)
    wanted = eval(formula, {"torch": torch, "x": inputs["x"].double()})
    exact = wanted if type(wanted) is tuple else [wanted]
    assert all(torch.equal(x, y) for x, y in zip(right.values(), exact, strict=True))
    rows = 13 if room == 20 else 2
    parts = [min(rows, 100 - start) for start in range(0, 100, rows)]
    assert seen(one)[-len(parts) :] == [(True, torch.float64, count) for count in parts]


@pytest.mark.parametrize("formula", COUPLED.values(), ids=COUPLED)
def test_what_takes_all_rows_together_is_computed_on_the_processor(
    card: Place, tmp_path: Path, formula: str
) -> None:
    text = HEAD + SMALL_CARD.replace("FORMULA", formula).replace("ROOM", "20")
    one = KernelBench(written(tmp_path, "1_a.py", text))
    one.describe(small=False)
    inputs = one.draw("inputs=1", 5, small=False)
    (right,) = one.answers("inputs=1", inputs, 1, small=False).values()
    assert torch.equal(right, eval(formula, {"torch": torch, "x": inputs["x"].double()}))
    assert seen(one)[-1] == (False, torch.float64, 100)
    assert card.has_card


def seen(one: KernelBench) -> list[tuple[bool, torch.dtype, int]]:
    """What the module was called with: whether on the card, the type, the number of rows."""
    found = one._file(False)._model.forward.__globals__["SEEN"]
    assert isinstance(found, list)
    return found
