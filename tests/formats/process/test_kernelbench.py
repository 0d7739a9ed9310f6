"""What KernelBench's files are held to, by the version of the problems that they are of."""

from pathlib import Path

import pytest
from formats.kernelbench_problems import HEAD, SCALED
from support.foreign import written

from harness.formats import versions
from harness.formats.process.kernelbench import KernelBench
from harness.formats.versions import Version


@pytest.mark.parametrize(
    ("version", "tolerance"),
    [
        (None, 1e-4),
        (Version("2222222", "v0.1"), 1e-4),
        (Version("1111111", "v0"), 1e-2),
        (Version("1111112", "v0, July 2025"), 1e-2),
    ],
)
def test_the_first_version_has_a_tolerance_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: Version | None, tolerance: float
) -> None:
    monkeypatch.setattr(versions, "version_of", lambda _: version)
    told = KernelBench(written(tmp_path, "1_a.py", HEAD + SCALED)).describe(small=True)
    assert (told.rtol, told.atol) == (tolerance, tolerance)
    assert all(each.rtol is None and each.atol is None for each in told.cases)
