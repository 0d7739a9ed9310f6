"""A reference for which a GPU has no room is evaluated on the host."""

from pathlib import Path

import pytest
import torch
from torch import Tensor

from harness.problem import authors_file
from harness.problem.authors_file import AuthorsFile, Function

SUMS = """
import torch

WHERE = []

def sums(x, more, n):
    WHERE.append(x.device.type)
    {first}
    if x.device.type != "cpu" or {always}:
        raise torch.OutOfMemoryError("no room for this")
    return {{"sum": x + more["y"] + n}}
"""


def loaded(folder: Path, *, always: bool = False, first: str = "") -> tuple[AuthorsFile, Function]:
    path = folder / "reference.py"
    path.write_text(SUMS.format(always=always, first=first))
    file = AuthorsFile(path)
    return file, file.needed("sums", ("x", "more", "n"), {"sums": "the sums"})


def where(function: Function) -> list[str]:
    return function.__globals__["WHERE"]  # type: ignore[no-any-return]


@pytest.mark.gpu
class TestOnACard:
    def arguments(self) -> dict[str, object]:
        x = torch.arange(4.0, device="cuda")
        return {"x": x, "more": {"y": 2 * x}, "n": 1}

    def test_the_host_computes_what_the_card_has_no_room_for(self, tmp_path: Path) -> None:
        file, function = loaded(tmp_path)
        returned = file.call("sums", function, self.arguments())
        assert isinstance(returned, dict)
        assert returned["sum"].device.type == "cuda"
        assert returned["sum"].tolist() == [1.0, 4.0, 7.0, 10.0]
        assert where(function) == ["cuda", "cpu"]

    def test_not_where_it_has_written_to_its_inputs(self, tmp_path: Path) -> None:
        file, function = loaded(tmp_path, first="x += 1")
        with pytest.raises(torch.OutOfMemoryError):
            file.call("sums", function, self.arguments())
        assert where(function) == ["cuda"]


def test_where_the_host_has_no_room_there_is_none(tmp_path: Path) -> None:
    file, function = loaded(tmp_path, always=True)
    x = torch.ones(2)
    with pytest.raises(torch.OutOfMemoryError, match="no room for this"):
        file.call("sums", function, {"x": x, "more": {"y": x}, "n": 1})
    assert where(function) == ["cpu"]


def test_all_tensors_of_a_mapping_move() -> None:
    inner = {"a": torch.ones(1), "b": {"c": torch.ones(1)}, "d": 3}
    moved = authors_file._moved(inner, torch.device("meta"))
    assert isinstance(moved, dict)
    found = list(authors_file._tensors(moved))
    assert [x.device.type for x in found] == ["meta"] * 2
    assert moved["d"] == 3
    assert all(isinstance(x, Tensor) for x in found)
