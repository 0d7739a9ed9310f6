"""A card for a process of one problem, without one."""

from collections.abc import Iterator

import pytest
import torch

from harness.formats.process import model_file, place
from harness.formats.process.place import Place


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A card that is the processor, taken by the process that the test is."""
    before = torch.backends.cudnn.deterministic
    made = Place()
    made.take_card("cpu")
    for module in (place, model_file):
        monkeypatch.setattr(module, "PLACE", made)
    yield made
    torch.backends.cudnn.deterministic = before
