"""One process that has imported Triton compiles for all tests; a thread is moved and comes back."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.wire.messages import Compile, Compiled
from harness.wire.validation import WireRecord

CompileOne = Callable[[Path, Compile, Path, int], Compiled]

_SERVER = Path(__file__).parents[1] / "support/compile_each.py"


@pytest.fixture
def anywhere() -> Iterator[set[int]]:
    """The processors that this thread may use, also after."""
    found = os.sched_getaffinity(0)
    yield found
    os.sched_setaffinity(0, found)


@pytest.fixture(scope="session")
def compiled() -> Iterator[CompileOne]:
    """Compiles one file in a process of its own: see compile_each.py."""
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

        def compile_one(
            source: Path, message: Compile, cache: Path, max_configurations: int = 1
        ) -> Compiled:
            request = [str(source), str(cache), max_configurations, message]
            asked.write(json.dumps(request, default=WireRecord.to_json) + "\n")
            asked.flush()
            line = answers.readline()
            assert line, f"{_SERVER.name} has ended"
            return Compiled.from_json(json.loads(line))

        yield compile_one
