"""The record: what it refuses, what it keeps, and that its documentation is complete."""

import json
import math
import re
from datetime import UTC, datetime, timedelta, timezone
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.samples import failed, measurement, result, score

from harness import records as package
from harness.records.cases import CaseResult, Element, Mismatch
from harness.records.fields import Document, Record
from harness.records.result import Result, Verdict

ROOT = Path(__file__).parents[2]
WRONG = CaseResult(spec="m=1", passed=False)


@pytest.mark.parametrize("each", [result(), failed(), result(measurements=(), score=None)])
def test_a_result_survives_json(each: Result) -> None:
    again = Result.from_json(each.to_json())
    assert again.to_json() == each.to_json()
    assert Result.from_json(each.to_json(indent=2)).to_json() == each.to_json()


def test_the_keys_of_the_command_line_are_there() -> None:
    keys = json.loads(result().to_json()).keys()
    wanted = "schema problem solution language device verdict message cases measurements score"
    assert set(wanted.split()) | {"environment"} <= keys
    assert json.loads(result().to_json())["schema"] == 2


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


@pytest.mark.parametrize("created", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-10:00"])
def test_a_date_that_utc_does_not_have_is_an_error_of_the_record(created: str) -> None:
    record = json.loads(result().to_json()) | {"created": created}
    with pytest.raises(ValueError, match="is no date in UTC"):
        Result.from_json(json.dumps(record))


def test_a_result_is_frozen_and_refuses_unknown_keys() -> None:
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


def test_the_first_failed_case_is_the_one_to_report() -> None:
    good = CaseResult(spec="good", passed=True)
    assert failed(cases=(good, WRONG, good)).failed_case is WRONG
    assert result().failed_case is None


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"schema": 2}', '{"schema": 1}'])
def test_something_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        Result.from_json(text)


def test_another_schema_is_named() -> None:
    with pytest.raises(ValueError, match="result schema 3, this harness reads 1 and 2"):
        Result.from_json('{"schema": 3}')


def test_every_key_is_documented() -> None:
    documented: dict[str, list[str]] = {}
    section = ""
    for line in (ROOT / "docs/reference/result.md").read_text(encoding="utf-8").splitlines():
        if heading := re.fullmatch(r"## `(\w+)`", line):
            section = heading[1]
            documented[section] = []
        elif line.startswith("#"):
            section = ""
        elif section and (row := re.match(r"- (`\w+`(?:, `\w+`)*): ", line)):
            documented[section] += row[1].replace("`", "").split(", ")
    modules = [
        import_module(f"{package.__name__}.{m.name}")
        for m in iter_modules(package.__path__)
        if m.name not in ("ruling", "comparison")
    ]
    records = {
        name: [field.alias or key for key, field in kind.model_fields.items()]
        for module in modules
        for name, kind in vars(module).items()
        if isinstance(kind, type)
        and issubclass(kind, Record)
        and kind not in (Record, Document)
        and kind.__module__ == module.__name__
    }
    assert documented == records


def test_every_verdict_is_documented() -> None:
    text = (ROOT / "docs/reference/result.md").read_text(encoding="utf-8")
    assert [v for v in Verdict if f"| `{v}` |" not in text] == []
