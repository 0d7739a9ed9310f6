"""What the program of `gate` prints, and what is said without a GPU."""

import pytest

from benchmarks import gate


def test_each_way_has_the_quantiles_of_its_line() -> None:
    told = "awake " + " ".join(f"{us}.00" for us in range(101)) + "\ngated 5.00 5.00\n"
    assert gate.read(told) == {
        "awake": pytest.approx([10, 25, 50, 75, 90]),
        "gated": [5.0] * len(gate.QUANTILES),
    }


def test_without_a_gpu_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "visible_cards", list)
    with pytest.raises(SystemExit, match="a GPU is needed"):
        gate.gate()
