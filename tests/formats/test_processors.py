"""References compute on all processors; inputs are drawn on one, and so the same everywhere."""

from pathlib import Path

import pytest
from formats.kernelbench_problems import HEAD
from support.foreign import written

from harness.formats import client
from harness.formats.client import ForeignProcess
from harness.formats.known import read_problem

COUNTING = """
class Model(nn.Module):
    def forward(self, x):
        return x * torch.get_num_threads()

def get_inputs():
    return [torch.full((4,), float(torch.get_num_threads()))]

def get_init_inputs():
    return []
"""

IN_ANOTHER_ORDER = """
calls = []

class Model(nn.Module):
    def forward(self, x):
        calls.append(x)
        return x + len(calls) * (torch.get_num_threads() > 1)

def get_inputs():
    return [torch.rand(4)]

def get_init_inputs():
    return []
"""


def process(tmp_path: Path, text: str) -> ForeignProcess:
    return ForeignProcess(read_problem(written(tmp_path, "set/1_a.py", HEAD + text)))


def test_only_what_is_right_takes_all_processors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "usable_processors", lambda: 3)
    one = process(tmp_path, COUNTING)
    try:
        case = one.describe(small=False).cases["inputs=1"]
        inputs = one.draw(case, small=False, seed=1)
        assert [x.tolist() for x in inputs.values()] == [[1.0] * 4]
        right = one.right(case, small=False, weights=0, inputs=inputs)
        assert [x.tolist() for x in right.values()] == [[3.0] * 4]
        assert one.processor_s == 3 * client.PROCESSOR_S
    finally:
        one.close()


def test_what_differs_on_several_is_tried_on_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "usable_processors", lambda: 2)
    one = process(tmp_path, IN_ANOTHER_ORDER)
    try:
        assert one.describe(small=False).cases
    finally:
        one.close()
