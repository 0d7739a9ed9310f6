"""What KernelBench's files are held to, and how their references compute on a small card."""

from pathlib import Path

import pytest
import torch
from formats.kernelbench_problems import HEAD, SCALED
from support.corpus import rest_in_corpus
from support.foreign import written

from harness.formats import versions
from harness.formats.process import model_file
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


@pytest.mark.parametrize("formula", rest_in_corpus(COUPLED.values()), ids=COUPLED)
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


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """All tensors are large ones."""
    monkeypatch.setattr(model_file, "LARGE", 0)


def is_told_by_rows(path: Path, text: str) -> bool:
    told = KernelBench(written(path, "1_a.py", HEAD + text)).describe(small=False)
    assert len({each.by_rows for each in told.cases}) == 1
    return told.cases[0].by_rows


@pytest.mark.parametrize("formula", BY_ROWS.values(), ids=BY_ROWS)
def test_rows_that_do_not_depend_on_each_other_are_told_of_where_tensors_are_large(
    card: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, formula: str
) -> None:
    text = SMALL_CARD.replace("FORMULA", formula).replace("ROOM", "100")
    assert not is_told_by_rows(tmp_path, text)
    monkeypatch.setattr(model_file, "LARGE", 0)
    assert is_told_by_rows(tmp_path, text)
    one = KernelBench(written(tmp_path, "1_a.py", HEAD + text))
    one.describe(small=False)
    inputs = one.draw("inputs=1", 5, small=False)
    whole = one.answers("inputs=1", inputs, 1, small=False)
    for rows in (slice(7), slice(7, 100), slice(99, 100)):
        some = {name: x[rows] for name, x in inputs.items()}
        found = one.answers("inputs=1", some, 1, small=False)
        assert found.keys() == whole.keys()
        assert all(torch.equal(x, whole[name][rows]) for name, x in found.items())


@pytest.mark.parametrize(("formula", "by_rows"), [("x * w", True), ("x.flip(0) * w", False)])
def test_rows_of_a_reference_that_is_rough_are_told_of_as_well(
    large: None, tmp_path: Path, formula: str, by_rows: bool
) -> None:
    rough = "w = 1 + 1e-3 * (x.dtype == torch.float32) * (x > 0.5)\n        return FORMULA"
    text = SMALL_CARD.replace("return FORMULA", rough).replace("FORMULA", formula)
    text = text.replace("ROOM", "100")
    one = KernelBench(written(tmp_path, "1_a.py", HEAD + text))
    told = one.describe(small=False)
    assert told.cases[0].errors and told.cases[0].by_rows == by_rows


MORE_COUPLED = {
    **COUPLED,
    "by number": "torch.where(torch.arange(len(x))[:, None] < 50, x, -x)",
    "the last": "torch.cat([x[:-1], x[-1:] + 1])",
    "of a batch": "nn.functional.batch_norm(x, None, None, training=True)",
    "half": "x.view(50, -1)",
    "in types of its own": "torch.relu(x.float())",
}


@pytest.mark.parametrize("formula", MORE_COUPLED.values(), ids=MORE_COUPLED)
def test_rows_that_depend_on_each_other_are_not_told_of_as_others(
    card: Place, large: None, tmp_path: Path, formula: str
) -> None:
    text = SMALL_CARD.replace("FORMULA", formula).replace("ROOM", "100")
    assert not is_told_by_rows(tmp_path, text)


NORM = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = NORM

    def forward(self, xARGUMENTS):
        return self.norm(x)

def get_inputs():
    return [torch.rand(20, 6, 5)OTHERS]

def get_init_inputs():
    return []
"""


@pytest.mark.parametrize(
    ("norm", "others", "by_rows"),
    [
        ("nn.BatchNorm1d(6)", [], False),
        ("nn.GroupNorm(2, 6)", [], True),
        ("nn.Linear(5, 5)", [], True),
        ("nn.Linear(5, 5)", ["torch.rand(20)", "3"], True),
        ("nn.Linear(5, 5)", ["torch.rand(6)"], False),  # no row of its own
        ("nn.Linear(5, 5)", ["torch.tensor(1.0)"], False),
    ],
)
def test_all_that_is_read_but_weights_has_rows(
    large: None, tmp_path: Path, norm: str, others: list[str], by_rows: bool
) -> None:
    text = NORM.replace("NORM", norm).replace("OTHERS", "".join(f", {each}" for each in others))
    names = "".join(f", other{number}" for number in range(len(others)))
    assert is_told_by_rows(tmp_path, text.replace("ARGUMENTS", names)) == by_rows


def test_a_card_that_cannot_compute_a_few_rows_leaves_that_to_the_processor(
    card: Place, large: None, tmp_path: Path
) -> None:
    text = SMALL_CARD.replace("FORMULA", "torch.relu(x)").replace("ROOM", "0")
    one = KernelBench(written(tmp_path, "1_a.py", HEAD + text))
    assert one.describe(small=False).cases[0].by_rows and card.has_card
    assert (False, torch.float64, 3) in seen(one)


def seen(one: KernelBench) -> list[tuple[bool, torch.dtype, int]]:
    """What the module was called with: whether on the card, the type, the number of rows."""
    found = one._file(False)._model.forward.__globals__["SEEN"]
    assert isinstance(found, list)
    return found
