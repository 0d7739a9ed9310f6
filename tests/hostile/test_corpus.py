"""Every hostile submission gets the verdict that it must, and leaves nothing behind.

Those that are timed on a GPU: test_timing.py.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from corpus import FOLDERS, GAIN, HERE, ROOT, Entry, Trials, entries
from support import samples

from harness.device.choose import open_device
from harness.device.cpu import CpuDevice
from harness.records.result import Verdict
from harness.sandbox import scratch
from harness.sandbox.support import detect_support
from harness.verify.examples import ExpectedVerdict

ENTRIES = entries()
PAGE = ROOT / "docs/explanation/hostile.md"
KNOWN = ROOT / "docs/explanation/known-exploits.md"
QUICK = {
    "channel/forges_finished.py",
    "channel/kills_its_parent.py",
    "replay/by_address.py",
    "answers/searches_memory.py",
    "filters/addresses_the_judge.py",
    "channel/raises_system_exit.py",
    "compiler/name_is_a_flag.cu",
    "compiler/nul_bytes.py",
    "honest/plain.py",
}
"""Graded in every run of the tests; the others are the corpus."""

# Elsewhere some of them would harm the machine, as docs/explanation/threat-model.md says.
confined = pytest.mark.skipif(not detect_support().namespaces, reason="no namespaces here")


def _chosen(device: str) -> list[Any]:
    chosen = []
    for entry in ENTRIES:
        if entry.runs_on(device) and (device == "cpu" or not entry.timed):
            marks = [] if device == "cuda" or entry.id in QUICK else [pytest.mark.corpus]
            chosen.append(pytest.param(entry, id=entry.id, marks=marks))
    return chosen


@pytest.fixture(scope="module")
def on_cpu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trials]:
    with Trials(CpuDevice(), tmp_path_factory.mktemp("cpu")) as trials:
        yield trials


@pytest.fixture(scope="module")
def on_gpu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trials]:
    with Trials(open_device("cuda"), tmp_path_factory.mktemp("gpu")) as trials:
        yield trials


@confined
@pytest.mark.parametrize("entry", _chosen("cpu"))
def test_an_entry_gets_its_verdict_on_a_cpu(on_cpu: Trials, entry: Entry) -> None:
    assert on_cpu.grade(entry).faults == ()


@confined
@pytest.mark.gpu
@pytest.mark.parametrize("entry", _chosen("cuda"))
def test_an_entry_gets_its_verdict_on_a_gpu(on_gpu: Trials, entry: Entry) -> None:
    assert on_gpu.grade(entry).faults == ()


@confined
@pytest.mark.corpus
def test_trials_notice_wrong_verdicts_and_leftovers(on_cpu: Trials) -> None:
    honest = next(entry for entry in ENTRIES if entry.id == "honest/plain.py")
    wrong = ExpectedVerdict(Verdict.WRONG_ANSWER, Verdict.WRONG_ANSWER)
    assert on_cpu.grade(honest).faults == ()
    faults = on_cpu.grade(replace(honest, wanted=wrong)).faults
    assert faults == ("ACCEPTED instead of WRONG_ANSWER: ",)
    assert "shows 'n=" in on_cpu.grade(replace(honest, never_shows="n=")).faults[0]
    folder = Path(tempfile.mkdtemp(prefix="sandbox-", dir=scratch.home()))
    try:
        (fault,) = on_cpu.grade(honest).faults
        assert fault.endswith(f"{folder.name} behind")
    finally:
        folder.rmdir()
    daemon = subprocess.Popen(["sleep", "60"])
    try:
        assert on_cpu.grade(honest).faults == (f"left process {daemon.pid} behind",)
    finally:
        daemon.kill()
        daemon.wait()


@confined
@pytest.mark.corpus
def test_times_that_are_too_short_are_noticed(on_cpu: Trials) -> None:
    sleeper = next(entry for entry in ENTRIES if entry.id == "channel/replaces_clocks.py")
    faults = on_cpu.grade(replace(sleeper, takes=60.0)).faults
    assert ["takes 60.0 s" in fault for fault in faults] == [True]


@pytest.mark.parametrize(
    ("speedup", "twins", "graded", "faults"),
    [
        (1.20, [1.20], 1, 0),
        (1.20, [1.18], 1, 0),
        (1.20, [1.10, 1.19], 2, 0),  # a slow grade of the twin
        (1.20, [1.10, 1.11], 2, 1),
    ],
)
def test_a_gain_over_the_honest_twin_is_a_fault(
    tmp_path: Path, speedup: float, twins: list[float], graded: int, faults: int
) -> None:
    entry = next(entry for entry in ENTRIES if entry.id == "timing/keeps_l2.cu")
    results = [samples.result(score=samples.score(each)) for each in twins]
    trials = Trials(SimpleNamespace(kind="cuda"), tmp_path)
    fast = samples.result(score=samples.score(speedup))
    with mock.patch.object(Trials, "_grade", side_effect=results) as grade:
        assert len(trials._gains(entry, fast)) == faults
        assert grade.call_count == graded
        unranked = samples.score(9.0, ranked=False, unranked_reason="noisy")
        assert trials._gains(entry, samples.result(score=unranked)) == []
        assert trials._gains(replace(entry, twin=""), fast) == []
    assert 1.01 <= GAIN <= 1.02


def test_timed_entries_that_may_be_accepted_have_an_honest_twin() -> None:
    by_id = {entry.id: entry for entry in ENTRIES}
    for entry in ENTRIES:
        verdicts = (entry.wanted.cuda, *entry.others)
        if entry.twin:
            twin = by_id[entry.twin]
            assert (twin.threats, twin.problem) == (("honest",), entry.problem), entry.id
            assert twin.wanted.cuda is Verdict.ACCEPTED, entry.id
        elif entry.folder == "timing" and Verdict.ACCEPTED in verdicts:
            assert entry.threats == ("honest",), entry.id


@confined
@pytest.mark.corpus
def test_the_command_prints_a_table_and_counts() -> None:
    names = ["filters/encoded.py", "replay/stale"]
    command = [sys.executable, "-m", "tools.hostile", "--jobs", "1", *names]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split()[:3] == ["filters/encoded.py", "wrong_answer", "wrong_answer"]
    assert lines[-1] == "1 on cpu, 1 not for it: 0 otherwise"


def test_every_file_is_an_entry() -> None:
    files = {p for p in HERE.glob("*/*") if p.is_file() and "__pycache__" not in p.parts}
    assert {p.parent.name for p in files} == set(FOLDERS)
    assert {p.suffix for p in files} == {".cu", ".py"}
    assert len(ENTRIES) >= 80
    assert len({entry.id for entry in ENTRIES}) == len(ENTRIES)
    assert {entry.id for entry in ENTRIES} > QUICK


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.id)
def test_an_entry_says_what_it_tries(entry: Entry) -> None:
    assert re.fullmatch(r"[A-Z].*[.]", entry.tries), entry.tries
    assert all(re.fullmatch(r"\d+|[a-z ]+", threat) for threat in entry.threats)
    assert {int(t) for t in entry.threats if t.isdigit()} <= set(range(1, 67))
    honest = (Verdict.ACCEPTED,)
    assert entry.folder != "honest" or {entry.wanted.cuda, entry.wanted.cpu} == set(honest)


def test_the_page_names_every_entry_and_every_category() -> None:
    text = PAGE.read_text(encoding="utf-8")
    named = set(re.findall(rf"`((?:{'|'.join(FOLDERS)})/[\w.]+\.(?:cu|py))`", text))
    assert named == {entry.id for entry in ENTRIES}
    rows = {int(n): row for n, row in re.findall(r"^(\d+)\. (.*)$", text, re.MULTILINE)}
    assert sorted(rows) == list(range(1, 67))
    for entry in ENTRIES:
        for threat in filter(str.isdigit, entry.threats):
            assert f"`{entry.id}`" in rows[int(threat)], f"{entry.id} is not in row {threat}"


def test_the_page_counts_what_is_there() -> None:
    text = PAGE.read_text(encoding="utf-8")
    counts = {name: int(n) for name, n in re.findall(r"`(\w+)/` (\d+)", text)}
    assert counts == {f: sum(e.folder == f for e in ENTRIES) for f in FOLDERS}
    assert f"{len(ENTRIES)} submissions" in text


def test_known_exploits_get_the_verdicts_of_their_entries() -> None:
    by_id = {entry.id: entry for entry in ENTRIES}
    lines = KNOWN.read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| ") and "entries here" not in line]
    assert len(rows) > 40
    for row in rows:
        *_, names, verdicts = row.strip("|").split(" | ")
        named = [by_id[name] for name in re.findall(r"`([^`]+)`", names)]
        allowed = {str(v) for entry in named for v in (entry.wanted.cuda, *entry.others)}
        assert named and set(re.findall(r"`([A-Z_]+)`", verdicts)) == allowed, row


def test_all_of_pygpubench_stands_for_something() -> None:
    section = KNOWN.read_text(encoding="utf-8").split("## pygpubench's 24")[1].split("##")[0]
    first = [line.split(" | ")[0] for line in section.splitlines() if line.startswith("| `")]
    names = re.findall(r"`(\w+)`", " ".join(first))
    assert len(names) == len(set(names)) == 24


def test_names_are_not_those_of_other_modules() -> None:
    assert not list(HERE.glob("*/test_*.py")), "pytest would import it"
    assert Path(__file__).parent == HERE
