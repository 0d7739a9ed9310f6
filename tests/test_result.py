"""The record: what it refuses, what it keeps, and that its documentation is complete."""

import json
import math
import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import failed, interval, measurement, mismatch, result, score

from harness import result as module
from harness.result import (
    CaseResult,
    Element,
    Interval,
    KernelResources,
    Mismatch,
    Record,
    Result,
    Score,
    Verdict,
)

ROOT = Path(__file__).parents[1]
WRONG = CaseResult(spec="m=1", passed=False)


@pytest.mark.parametrize("each", [result(), failed(), result(measurements=(), score=None)])
def test_it_survives_json(each: Result) -> None:
    again = Result.from_json(each.to_json())
    assert again.to_json() == each.to_json()
    assert Result.from_json(each.to_json(indent=2)).to_json() == each.to_json()


def test_the_keys_of_the_command_line_are_there() -> None:
    keys = json.loads(result().to_json()).keys()
    wanted = "schema problem solution language device verdict message cases measurements score"
    assert set(wanted.split()) | {"environment"} <= keys
    assert json.loads(result().to_json())["schema"] == 1


@given(st.floats(), st.floats(allow_nan=False), st.text(), st.text(max_size=5))
@settings(deadline=None)
def test_any_number_and_any_text_survives(got: float, want: float, output: str, name: str) -> None:
    element = Element(index=(), expected=want, got=got, allowed=0.0)
    wrong = Mismatch(parameter="c", differing=1, total=1, first=element, worst=element)
    case = CaseResult(spec="", passed=False, mismatch=wrong)
    each = failed(cases=(case,), output=output, author=name)
    again = Result.from_json(each.to_json())
    assert (again.output, again.solution.author) == (output, name)
    assert again.cases[0].mismatch is not None
    back = again.cases[0].mismatch.first
    assert back.expected == want
    assert back.got == got or (math.isnan(back.got) and math.isnan(got))


def test_lone_surrogates_are_escaped() -> None:
    each = failed(message="bad \udcff name", output="\ud800")
    assert (each.message, each.output) == ("bad \\udcff name", "\\ud800")
    each.to_json().encode("utf-8")


def test_dates_become_utc() -> None:
    east = datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=2)))
    each = result(created=east)
    assert each.created == east
    assert each.created.tzinfo is UTC
    with pytest.raises(pydantic.ValidationError, match="timezone"):
        result(created=datetime(2026, 1, 1))


def test_it_is_frozen_and_knows_its_keys() -> None:
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        result().verdict = Verdict.REJECTED
    data = json.loads(result().to_json()) | {"extra": 1}
    with pytest.raises(ValueError, match="extra"):
        Result.from_json(json.dumps(data))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cases": ()}, "at least one case"),
        ({"cases": (WRONG,)}, "cannot have a failed case"),
        ({"score": None}, "come together"),
        ({"measurements": ()}, "come together"),
        ({"id": ""}, "id\n.*at least 1 "),
        ({"verdict": Verdict.TIME_LIMIT, "message": "x"}, "neither measurements nor a score"),
    ],
)
def test_an_accepted_result_has_what_it_needs(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(pydantic.ValidationError, match=message):
        result(**changes)


@pytest.mark.parametrize(
    ("verdict", "changes", "message"),
    [
        (Verdict.TIME_LIMIT, {"message": ""}, "needs a message"),
        (Verdict.WRONG_ANSWER, {"cases": ()}, "needs the case that failed"),
        (Verdict.REJECTED, {"measurements": (measurement(),)}, "neither"),
        (Verdict.REJECTED, {"score": score()}, "neither"),
        (Verdict.TIME_LIMIT, {"language": "triton", "solution": result().solution}, "is not"),
    ],
)
def test_other_results_have_what_they_need(
    verdict: Verdict, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(pydantic.ValidationError, match=message):
        failed(verdict, **changes)


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


def test_the_first_failed_case_is_the_one_to_report() -> None:
    good = CaseResult(spec="good", passed=True)
    assert failed(cases=(good, WRONG, good)).failed_case is WRONG
    assert result().failed_case is None


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"schema": 2}', '{"schema": 1}'])
def test_something_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        Result.from_json(text)


def test_another_schema_is_named() -> None:
    with pytest.raises(ValueError, match="result schema 2, this harness reads 1"):
        Result.from_json('{"schema": 2}')


def test_every_key_is_documented() -> None:
    documented: dict[str, list[str]] = {}
    section = ""
    for line in (ROOT / "docs/result.md").read_text(encoding="utf-8").splitlines():
        if heading := re.fullmatch(r"## `(\w+)`", line):
            section = heading[1]
            documented[section] = []
        elif line.startswith("#"):
            section = ""
        elif section and (row := re.match(r"\| `(\w+)` \|", line)):
            documented[section].append(row[1])
    records = {
        name: [field.alias or key for key, field in kind.model_fields.items()]
        for name, kind in vars(module).items()
        if isinstance(kind, type) and issubclass(kind, Record) and kind is not Record
    }
    assert documented == records


def test_every_verdict_is_documented() -> None:
    text = (ROOT / "docs/result.md").read_text(encoding="utf-8")
    assert [v for v in Verdict if f"| `{v}` |" not in text] == []
