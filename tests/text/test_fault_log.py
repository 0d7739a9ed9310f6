"""The details of a fault, in a file or right here."""

import tempfile
from pathlib import Path

import pytest

from harness.text.fault_log import log_fault


def fault() -> Exception:
    try:
        raise ZeroDivisionError("so and\x1b[2J so")
    except ZeroDivisionError as error:
        return error


def test_details_are_in_a_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    said = log_fault(fault())
    (file,) = tmp_path.iterdir()
    assert said == f"details in {file}"
    assert "ZeroDivisionError: so and" in file.read_text()
    assert "test_fault_log.py" in file.read_text()


def test_where_no_file_can_be_they_are_told_and_harmless(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    said = log_fault(fault())
    assert "ZeroDivisionError: so and" in said
    assert "\x1b" not in said
