"""What a board shows: the columns that its users may rely on."""

from collections.abc import Mapping

COLUMNS: Mapping[str, str] = {
    "problem": "str",  # slug
    "dtype": "str",  # data type that [VAR] stood for
    "device_kind": "str",  # cuda or cpu: never on one board
    "device": "str",  # name of the device
    "harness_major": "str",  # first number of `harness`
    "baseline": "str",  # what the speed-up is over; empty if nothing was timed
    "rank": "Int64",  # 1 is best, ties share; missing: not ranked
    "author": "str",
    "solution": "str",  # name of the submitted file
    "language": "str",
    "time_us": "float64",  # geometric mean of the times per call over the shapes, microseconds
    "speedup": "float64",  # geometric mean of the speed-ups over `baseline`
    "speedup_low": "float64",  # its 95 % interval
    "speedup_high": "float64",
    "unranked_reason": "str",  # empty for ranked entries
    "date": "datetime64[us, UTC]",  # when it was graded
    "problem_hash": "str",
    "solution_hash": "str",
    "harness": "str",  # version that graded
    "result": "str",  # id of the result in the store
    "of_light": "float64",  # geometric mean of the parts of the speed of light; missing: not known
}
"""Columns of a board in their order, with their pandas types. New ones will be added at the end."""
