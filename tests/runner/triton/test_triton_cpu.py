"""Triton without a GPU: the interpreter made honest. What is tested is in triton_cases.py."""

import ast
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from harness.runner.triton import cpu as triton_cpu

_CASES = Path(__file__).parents[2] / "support/triton_cases.py"
_ROOT = _CASES.parents[3]
_NAMES = [
    node.name
    for node in ast.parse(_CASES.read_text()).body
    if isinstance(node, ast.FunctionDef) and node.name.startswith("case_")
]


@cache
def outcomes() -> dict[str, str]:
    """Run all cases in one child process (see there)."""
    child = subprocess.run(
        [sys.executable, str(_CASES)],
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert child.returncode == 0, child.stderr
    result: dict[str, str] = json.loads(child.stdout.splitlines()[-1])
    return result


@pytest.mark.parametrize("name", _NAMES)
def test_interpreter(name: str) -> None:
    assert not outcomes()[name], outcomes()[name]


def test_enable_refuses_an_imported_triton(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "triton", ModuleType("triton"))
    with pytest.raises(RuntimeError, match="triton was imported before"):
        triton_cpu.enable()
