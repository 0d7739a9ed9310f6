"""What the zygote imports before it forks the processes of foreign problems."""

import contextlib
import importlib

_NAMES = (
    "torch",
    "torch.utils.flop_counter",
    "harness.formats.process.adaptors",
    "harness.formats.process.main",
    "harness.formats.process.no_compiler",
    "harness.runner.triton.fake_cuda",
    "sympy",  # which torch's shapes without values import when first asked, for most of a second
)


def preload() -> None:
    """Import torch and our side; what fails is for the process itself to complain about."""
    with contextlib.suppress(Exception):
        for name in _NAMES:
            importlib.import_module(name)
