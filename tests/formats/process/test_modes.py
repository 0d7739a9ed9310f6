"""How operations of a reference compute."""

import subprocess
import sys

import pytest
import torch

from harness.formats.process.modes import deterministic


def test_deterministic_ways_inside_alone() -> None:
    with deterministic():
        assert torch.are_deterministic_algorithms_enabled()
        assert torch.is_deterministic_algorithms_warn_only_enabled()
        with deterministic():
            pass
        assert torch.are_deterministic_algorithms_enabled()
    assert not torch.are_deterministic_algorithms_enabled()


@pytest.mark.corpus
def test_they_import_no_compiler() -> None:
    text = (
        "import sys\n"
        "from harness.formats.process.modes import deterministic\n"
        "with deterministic(): pass\n"
        "assert not {'torch._inductor', 'torch._dynamo'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", text], check=True)
