"""Records of schema 1, as an H100 wrote them, are read as ones of schema 2."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.records.result import Result
from harness.records.upgrade import from_schema_1

LINES = Path(__file__).with_name("schema_1.jsonl").read_text(encoding="utf-8").splitlines()
OLD = [json.loads(line) for line in LINES]


NEWER = (
    "clocks",
    "baseline_by_itself_s",
    "baseline_calls_per_batch",
    "overlap_looks",
    "cached_ahead",
)
"""Keys of a measurement that schema 1 did not know."""


def test_the_records_of_schema_1_have_every_renamed_key() -> None:
    assert {each["schema"] for each in OLD} == {1}
    assert any(m["others"] for each in OLD for m in each["measurements"])
    assert all(m["light_s"] > 0 for each in OLD for m in each["measurements"])


@pytest.mark.parametrize("number", range(len(LINES)))
def test_every_value_has_its_new_name(number: int) -> None:
    old, new = OLD[number], Result.from_json(LINES[number])
    for before, after in zip(old["measurements"], new.measurements, strict=True):
        assert after.sol_time_s == before["light_s"]
        assert after.launch_overhead_s == before["overhead_s"]
        assert after.baseline_launch_overhead_s == before["baseline_overhead_s"]
        assert after.copied_outputs == before["copied"]
        alone = before["alone_s"]
        assert (after.isolated_s and after.isolated_s.model_dump()) == alone
        assert [each.baseline for each in after.other_baselines] == [
            each["baseline"] for each in before["others"]
        ]
    assert new.score is not None
    assert [each.baseline for each in new.score.other_baselines] == [
        each["baseline"] for each in old["score"]["others"]
    ]
    if old["conditions"] is not None:
        assert new.conditions is not None
        assert new.conditions.other_processes == old["conditions"]["others"]
    written = json.loads(new.to_json())
    assert written.pop("origin") == ""
    assert written.pop("claims") == []
    assert written.pop("effort") is None
    assert written["problem"].pop("format") == ""
    for measurement in written["measurements"]:
        for key in NEWER:
            assert measurement.pop(key) is None
    assert _leaves(written) == _leaves(old)


def _leaves(data: Any) -> list[Any]:
    """All values but the schema's number, in an order that names do not decide."""
    if isinstance(data, dict):
        return sorted(
            (leaf for key, each in data.items() if key != "schema" for leaf in _leaves(each)),
            key=repr,
        )
    if isinstance(data, list):
        return sorted((leaf for each in data for leaf in _leaves(each)), key=repr)
    return [data]


def test_what_is_written_is_of_schema_2_and_reads_the_same() -> None:
    for line in LINES:
        new = Result.from_json(line)
        assert json.loads(new.to_json())["schema"] == 2
        assert Result.from_json(new.to_json()) == new


@pytest.mark.parametrize("part", [None, 3, "x", [1], {"others": 5}])
def test_malformed_parts_are_left_to_the_record_to_refuse(part: object) -> None:
    data = {"schema": 1, "measurements": part, "score": part, "conditions": part}
    assert from_schema_1(data)["schema"] == 2
    with pytest.raises(ValueError, match=r".+"):
        Result.model_validate(data)


def test_new_names_in_an_old_record_are_refused() -> None:
    old = json.loads(LINES[0])
    old["measurements"][0]["sol_time"] = 1.0
    with pytest.raises(ValueError, match="sol_time"):
        Result.from_json(json.dumps(old))
