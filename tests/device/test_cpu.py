from pathlib import Path

import pytest

from harness.device.cpu import CpuDevice
from harness.sandbox import host_memory


def test_memory_that_only_caches_files_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "self").mkdir()
    (tmp_path / "self/cgroup").touch()
    (tmp_path / "meminfo").write_text(f"MemFree: {1 << 20} kB\nMemAvailable: {9 << 20} kB\n")
    monkeypatch.setattr(host_memory, "_PROC", tmp_path)
    assert CpuDevice().free_bytes() == 9 << 30
