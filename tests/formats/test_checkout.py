"""Which problem of a checkout an output of a model is for."""

import re
from pathlib import Path

import pytest
from formats.kernelbench_problems import ACCEPTED, HEAD, SCALED
from support.foreign import written

from harness.errors import UsageError
from harness.formats import versions
from harness.formats.checkout import Checkout
from harness.formats.known import FORMATS, read_problem
from harness.formats.versions import Version, fingerprint, version_of
from harness.records import refs
from harness.solution.wanted import Wanted

TEXT = HEAD + ACCEPTED["fixed"][0]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("level1/1_Scan.py", "level1/11_Other.py", "level2/1_Twice.py", "more/Plain.py"):
        written(tmp_path, f"set/{name}", TEXT + f"# {name}\n")
    written(tmp_path, "set/README.md", "text")
    return tmp_path / "set"


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        (Wanted(level=1, number=1), "1_Scan.py"),
        (Wanted(level=2, number=1), "1_Twice.py"),
        (Wanted(number=11), "11_Other.py"),
        (Wanted(level=1, number=11, name="11_Other"), "11_Other.py"),
        (Wanted(number=1, name="1_Twice.py"), "1_Twice.py"),
        (Wanted(name="plain"), "Plain.py"),
        (Wanted(name="kernelbench-level2-1-twice"), "1_Twice.py"),
        (Wanted(level=1, name="scan"), "1_Scan.py"),
        (Wanted(reference=TEXT + "# more/Plain.py  \n\n"), "Plain.py"),
        (Wanted(level=1, number=1, reference=TEXT + "# level1/1_Scan.py"), "1_Scan.py"),
    ],
)
def test_names_numbers_and_texts(root: Path, wanted: Wanted, name: str) -> None:
    checkout = Checkout(root)
    found = checkout.find(wanted, "a.py")
    assert found.source.path.name == name
    assert checkout.find(wanted, "b.py") is found  # whose cases are known by then


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (Wanted(level=3, number=1), "a.py: {root} has no level 3, problem 1"),
        (Wanted(number=1), "a.py: problem 1 of {root} may be any of"),
        (Wanted(name="scam"), r"has no 'scam' \(did you mean {root}/level1/1_Scan.py\?\)"),
        (Wanted(reference="x\ny"), "has no the problem whose text it has"),
        (Wanted(level=1, number=1, reference="x"), "for another text than .*, of no version"),
    ],
)
def test_what_is_not_there_or_not_clear(root: Path, wanted: Wanted, reason: str) -> None:
    with pytest.raises(UsageError, match=reason.format(root=re.escape(str(root)))):
        Checkout(root).find(wanted, "a.py")


def test_a_folder_without_problems(tmp_path: Path) -> None:
    written(tmp_path, "a.py", "x = 1")
    with pytest.raises(UsageError, match="no problem of a known format"):
        Checkout(tmp_path).find(Wanted(number=1), "a.py")


def test_versions_of_one_name_are_told_apart(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = HEAD + SCALED, (root / "level1/1_Scan.py").read_text()
    table = {
        fingerprint(new.encode()): Version("2222222", "v0.1"),
        fingerprint(old.encode()): Version("1111111", "v0"),
    }
    monkeypatch.setattr(versions, "_versions", lambda: table)
    record = Wanted(level=1, number=1, reference=old.replace("\n", "  \n"))
    with pytest.raises(UsageError) as told:
        Checkout(root).find(record, "h100.json:3")
    path = root / "level1/1_Scan.py"
    assert str(told.value) == (
        f"h100.json:3: its record is for another text than {path}: for that of KernelBench v0 "
        f"(1111111); git -C {root} checkout 1111111"
    )
    # A board and a model's row have both: their slugs differ.
    assert read_problem(path).slug == "kernelbench-level1-1-scan"
    first = written(tmp_path, "v0/level1/1_Scan.py", old)
    assert read_problem(first).slug == "kernelbench-v0-level1-1-scan"
    assert Checkout(tmp_path).find(record, "a").source.path == first


def test_the_table_of_versions() -> None:
    known = versions._versions()
    names = [each.name for each in dict.fromkeys(known.values())]
    assert names == ["main, March 2026", "v0.1", "v0", "v0, July 2025"]
    assert [each.is_first for each in dict.fromkeys(known.values())] == [False, False, True, True]
    assert all(re.fullmatch("[0-9a-f]{10}", mark) for mark in known)
    assert version_of("0" * 10) is None
    assert fingerprint(b"a\nb") == fingerprint(b"\na  \r\nb\n\n") != fingerprint(b"a\n b")


def test_boards_know_the_formats() -> None:
    assert set(FORMATS) <= set(refs.FORMATS)
