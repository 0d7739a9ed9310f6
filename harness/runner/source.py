"""The source of a Python submission: written to a file, and imported."""

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

from harness.runner.program import ProgramFailed
from harness.wire.messages import FaultCode

NAME = "solution"
"""Of the module."""


def write_source(fd: int, folder: Path) -> Path:
    """Write the source behind a descriptor to a file, where Triton reads that of its kernels."""
    path = folder / f"{NAME}.py"
    with os.fdopen(fd, "rb") as source:
        path.write_bytes(source.read())
    return path


def import_source(path: Path) -> ModuleType:
    """Import a file as the module ``solution``; whatever it raises is raised."""
    spec = importlib.util.spec_from_file_location(NAME, path)
    if spec is None or spec.loader is None:
        raise ProgramFailed(FaultCode.NO_ENTRY, "the file cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = module
    spec.loader.exec_module(module)
    return module
