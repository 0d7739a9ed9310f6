"""What a submission's class is made with: constants that are smaller here than in its file."""

import json
from typing import Any

import pytest

from harness.runner.entry.construction import replace_constants

CUT = json.dumps(
    [
        ["batch", 10, 4],
        ["shape", {"tuple": [10, 64]}, {"tuple": [4, 64]}],
        ["sizes", [10, 32], [4, 8]],
        ["rate", 0.1, 0.25],
    ]
)


@pytest.mark.parametrize(
    ("name", "value", "here"),
    [
        ("batch", 10, 4),
        ("shape", (10, 64), (4, 64)),
        ("sizes", [10, 32], [4, 8]),
        ("rate", 0.1, 0.25),
        ("batch", 11, 11),
        ("batch", "10", "10"),
        ("shape", [10, 64], [10, 64]),
        ("other", 10, 10),
    ],
)
def test_constants_that_are_as_in_the_file_are_replaced(name: str, value: Any, here: Any) -> None:
    names = {name: value}
    replace_constants(names, CUT)
    assert names == {name: here}
    replace_constants(names, CUT)
    assert names == {name: here}


def test_nothing_is_replaced_where_sizes_are_the_files_own() -> None:
    names = {"batch": 10}
    replace_constants(names, "")
    assert names == {"batch": 10}
