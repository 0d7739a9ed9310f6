"""The private parts of PyTorch that outputs are placed with."""

import importlib
import subprocess
import sys

import pytest

from harness.runner.entry import torch_private

NAMES = (
    "torch._C:_construct_storage_from_data_pointer",
    "torch:UntypedStorage._cdata",
    "torch.multiprocessing.reductions:StorageWeakRef.expired",
    "torch.utils._python_dispatch:TorchDispatchMode.__torch_dispatch__",
    "torch.utils._pytree:tree_leaves",
    "torch:ops.aten.add.Tensor._schema.arguments",
    "torch._dynamo.utils:counters",
)
"""Module and attribute of each private part that ``torch_private`` uses."""


def exists(name: str) -> bool:
    """Whether ``module:attribute.attribute`` is there."""
    module, path = name.split(":")
    try:
        found: object = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return False
    return True


def test_this_version_of_torch_has_every_private_part() -> None:
    assert torch_private.PLACE_OUTPUTS
    missing = [name for name in NAMES if not exists(name)]
    assert missing == [], "PLACE_OUTPUTS must be off, or its code must change"


def test_a_private_part_that_is_gone_is_named() -> None:
    gone = ("torch._C:_no_such_function", "torch.no_such_module:x", "torch:Tensor.no_such_method")
    assert [exists(name) for name in (*gone, "torch:Tensor.clone")] == [
        False, False, False, True,
    ]  # fmt: skip


@pytest.mark.corpus
def test_outputs_are_copied_where_placement_is_off() -> None:
    code = """
from types import ModuleType
import torch
from harness.runner.entry import torch_private
torch_private.PLACE_OUTPUTS = False
from harness.runner.entry.contracts import caller
module = ModuleType("solution")
module.custom_kernel = lambda data: data[0] + 1
found = caller(module, "custom_kernel", (("x", "in"), ("y", "out")))
x, y = torch.ones(4), torch.zeros(4)
found.bind([(x, y)])
found.warm_up(0)
found.call(0)
assert (found.placing, found.copied, y.tolist()) == (False, 1, [2.0] * 4)
import sys
assert "harness.runner.entry.output_placement" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
