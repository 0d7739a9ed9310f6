"""The parts of a record: what they refuse."""

import math

import pydantic
import pytest
from support.samples import interval, measurement, mismatch, score

from harness.records.build import KernelResources
from harness.records.cases import CaseResult, Mismatch
from harness.records.measurement import Interval, Score


def test_parts_are_checked() -> None:
    def refused(message: str) -> "pytest.RaisesExc[pydantic.ValidationError]":
        return pytest.raises(pydantic.ValidationError, match=message)

    with refused("not between"):
        Interval(value=1.0, low=1.1, high=1.2)
    with refused("not between"):
        Interval(value=math.nan, low=0.0, high=1.0)
    with refused("reason why not"):
        score(ranked=False)
    with refused("reason why not"):
        score(unranked_reason="noisy")
    with refused("cannot be ranked"):
        score(speedup=1.0, relative=math.inf)
    with refused("cannot differ"):
        Mismatch(**(dict(mismatch()) | {"differing": 34}))
    with refused("has no mismatch"):
        CaseResult(spec="", passed=True, mismatch=mismatch())
    with refused("greater than or equal to 0"):
        KernelResources(name="k", registers=-1)
    with refused("not a positive number"):
        measurement(baseline_s=interval(0.0))


def test_bounds_may_be_off_by_rounding() -> None:
    Interval(value=1.0, low=1.0 + 1e-12, high=1.0 + 1e-12)


def test_a_score_without_an_interval_may_be_shown() -> None:
    open_end = Interval(value=1.0, low=0.0, high=math.inf)
    shown = Score(baseline="b", speedup=open_end, time_s=1.0, ranked=False, unranked_reason="n=1")
    assert Score.model_validate_json(shown.model_dump_json()) == shown
