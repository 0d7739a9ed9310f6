"""The hint about outputs that were copied: only where some were."""

import pytest
from support.samples import measurement, result

from harness.records.build import Build
from harness.report import generation


def _told(contract: str, *copied: int | None) -> dict[str, str]:
    build = Build(seconds=1, cached=False, target="sm_90", contract=contract)
    measured = tuple(measurement(copied_outputs=each) for each in copied)
    return dict(generation.describe_generation(result(build=build, measurements=measured)))


@pytest.mark.parametrize("contract", ["custom_kernel", "ModelNew"])
def test_copies_are_named_with_what_to_do(contract: str) -> None:
    assert _told(contract, 0, 0)["calls"] == f"{contract}, whose outputs are returned"
    assert _told(contract, None)["calls"] == f"{contract}, whose outputs are returned"
    assert "; 1 output is copied, within the time: return a" in _told(contract, 0, 1)["calls"]
    assert "; 3 outputs are copied" in _told(contract, 3, 1)["calls"]


def test_filled_outputs_have_no_line_about_copies() -> None:
    assert _told("solution", 0) == {}
    assert _told("solve", 1) == {"calls": "solve"}
