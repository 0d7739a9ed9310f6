"""Reads what an earlier harness wrote: result records of schema 1 become those of schema 2.

Schema 2 says the same under other names.
"""

from collections.abc import Mapping

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


def from_schema_1(data: Mapping[str, object]) -> dict[str, object]:
    """A result record of schema 1 as one of schema 2; what is malformed in it is left as it is."""
    score = _renamed(data.get("score"), _SCORE)
    if isinstance(score, dict) and "other_baselines" in score:
        score["other_baselines"] = _renamed(score["other_baselines"], _BASELINE_SCORE)
    parts = {
        "measurements": _renamed(data.get("measurements"), _MEASUREMENT),
        "score": score,
        "conditions": _renamed(data.get("conditions"), _CONDITIONS),
    }
    return {**data, **{key: part for key, part in parts.items() if key in data}, "schema": 2}


def _renamed(part: object, names: Mapping[str, str]) -> object:
    """An object with its keys as they are called now, or a list of such; others as they are."""
    if isinstance(part, list | tuple):
        return [_renamed(each, names) for each in part]
    if isinstance(part, dict):
        return {names.get(key, key): value for key, value in part.items()}
    return part
