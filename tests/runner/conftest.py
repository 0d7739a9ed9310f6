"""One process that has imported Triton compiles for all tests; a thread is moved and comes back."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Compile = Callable[[dict[str, Any]], dict[str, Any]]

_SERVER = Path(__file__).parents[1] / "support/compile_each.py"


@pytest.fixture
def anywhere() -> Iterator[set[int]]:
    """The processors that this thread may use, also after."""
    found = os.sched_getaffinity(0)
    yield found
    os.sched_setaffinity(0, found)


@pytest.fixture(scope="session")
def compiled() -> Iterator[Compile]:
    """Compiles one request in a process of its own: see compile_each.py."""
    with subprocess.Popen(
        [sys.executable, str(_SERVER)],
        env={**os.environ, "PYTHONPATH": str(_SERVER.parents[2])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        asked, answers = server.stdin, server.stdout

        def compile_one(request: dict[str, Any]) -> dict[str, Any]:
            asked.write(json.dumps(request) + "\n")
            asked.flush()
            line = answers.readline()
            assert line, f"{_SERVER.name} has ended"
            answer: dict[str, Any] = json.loads(line)
            return answer

        yield compile_one
