"""Reads what an earlier harness wrote: result records of schema 1 become those of schema 2.

Schema 2 says the same under other names: the field's own words instead of ours.
"""

from collections.abc import Mapping
from typing import Any

_MEASUREMENT = {
    "alone_s": "isolated_s",
    "light_s": "sol_time_s",
    "overhead_s": "launch_overhead_s",
    "baseline_overhead_s": "baseline_launch_overhead_s",
    "copied": "copied_outputs",
    "others": "other_baselines",
}
_SCORE = {"others": "other_baselines"}
_BASELINE_SCORE = {"recorded": "recorded_at"}
_CONDITIONS = {"others": "other_processes"}


def from_schema_1(data: Mapping[str, Any]) -> dict[str, Any]:
    """A result record of schema 1 as one of schema 2; what is malformed in it is left as it is."""
    upgraded = {**data, "schema": 2}
    if isinstance(measurements := data.get("measurements"), list | tuple):
        upgraded["measurements"] = [_renamed(each, _MEASUREMENT) for each in measurements]
    if isinstance(score := _renamed(data.get("score"), _SCORE), dict):
        if isinstance(others := score.get("other_baselines"), list | tuple):
            score["other_baselines"] = [_renamed(each, _BASELINE_SCORE) for each in others]
        upgraded["score"] = score
    if "conditions" in data:
        upgraded["conditions"] = _renamed(data["conditions"], _CONDITIONS)
    return upgraded


def _renamed(part: object, names: Mapping[str, str]) -> object:
    """``part`` with its keys as they are called now, if it is an object at all."""
    if not isinstance(part, dict):
        return part
    return {names.get(key, key): value for key, value in part.items()}
