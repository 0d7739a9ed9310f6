import time
from pathlib import Path

import pytest

from harness import doctor
from harness.doctor import State, examine


def test_every_part_is_looked_at_quickly(tmp_path: Path) -> None:
    started = time.monotonic()
    found = {finding.name: finding for finding in examine(store=tmp_path / "results.sqlite")}
    assert time.monotonic() - started < 5
    expected = {"python", "torch", "triton", "nvcc", "g++", "sandbox", "limits", "store", "cache"}
    assert expected | {"compute-sanitizer", "ncu"} <= set(found)
    assert found["python"].state is State.OK
    assert found["store"].state is State.OK


def test_whatever_is_not_ok_has_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "find_nvcc", _no_nvcc)
    monkeypatch.setattr(doctor.shutil, "which", lambda *_, **__: None)
    environment = {"PATH": str(tmp_path), "HARNESS_CACHE": "/proc/nowhere"}
    found = {finding.name: finding for finding in examine(environment=environment)}
    for name in ("nvcc", "g++", "sandbox", "limits"):
        assert found[name].state is State.MISSING
    assert all(finding.remedy for finding in found.values() if finding.state is not State.OK)


def _no_nvcc(_: object) -> None:
    raise doctor.NvccNotFound
