"""When a command says what."""

import sys
from itertools import count
from types import SimpleNamespace

import pytest

from benchmarks import command

SAYS = r"""
import sys
print("note", *('{"said": "%s"}' % word for word in sys.argv[1:-2]), sep="\n")
"""


def test_the_first_result_counts_and_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "HARNESS", (sys.executable, "-c", SAYS))
    # A clock that is looked at when the command begins, at each result, and when it has ended.
    monkeypatch.setattr(command, "time", SimpleNamespace(perf_counter=count().__next__))
    assert command.until_first("a", "b") == (1, 3)
    with pytest.raises(SystemExit, match="no result of harness"):
        command.until_first()
