"""Submissions that are about time, and honest ones that look like them, timed on a GPU.

Nothing else may be at work on the card. That what is accepted has gained nothing shows in
``python -m tools.hostile --device cuda``, and where a file says what a call ``takes``.
"""

from collections.abc import Iterator

import pytest
from corpus import Entry, Trials, entries

from harness.device.choose import open_device
from harness.records.result import Verdict
from harness.sandbox.support import detect_support

TIMED = [entry for entry in entries() if entry.timed]


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trials]:
    with Trials(open_device("cuda"), tmp_path_factory.mktemp("timed")) as trials:
        yield trials


@pytest.mark.skipif(not detect_support().namespaces, reason="no namespaces here")
@pytest.mark.gpu
@pytest.mark.timed
@pytest.mark.parametrize("entry", TIMED, ids=lambda e: e.id)
def test_a_timed_entry_gets_its_verdict_on_a_gpu(trials: Trials, entry: Entry) -> None:
    assert trials.grade(entry).faults == ()


def test_timed_entries_have_every_kind_of_verdict() -> None:
    wanted = {entry.wanted.cuda for entry in TIMED}
    assert wanted >= {Verdict.ACCEPTED, Verdict.REJECTED, Verdict.WRONG_ANSWER}
