"""Functions of ``reference.py`` and the parameters that they are for, seen when a problem loads."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.problem_texts import MINIMAL, REFERENCE, Write

from harness.errors import ProblemError
from harness.problem.format.load import load_problem

DRAWN = MINIMAL.replace(
    "    shape: [n]\n  - name: s", "    shape: [n]\n    values: VALUES\n  - name: s"
)
DRAWN = DRAWN.replace("VALUES", "{distribution: draw}")
DRAW = "def draw(generator, family, n):\n    return {}\n"


def complaints(write: Write, text: str = DRAWN, functions: str = DRAW) -> list[str]:
    folder = write(text, reference=REFERENCE + functions)
    try:
        load_problem(folder)
    except ProblemError as error:
        return [str(d).removeprefix(f"{folder}/") for d in error.diagnostics]
    return []


@pytest.mark.parametrize(
    "functions",
    [
        DRAW,
        "async def draw(): ...\n",
        "from elsewhere import draw\n",
        "from elsewhere import *\n",
        "if True:\n    def draw(): ...\n",
        "draw = lambda **given: {}\n",
        "class draw: ...\n",
        "def helper(): ...\n" + DRAW,
    ],
)
def test_a_function_is_found_however_it_is_bound(write: Write, functions: str) -> None:
    assert complaints(write, functions=functions) == []
    (parameter, *_) = load_problem(write(DRAWN, reference=REFERENCE + functions)).parameters
    assert parameter.drawn


@pytest.mark.parametrize(
    "functions", ["", "def drawn(): ...\n", "# def draw\n", "class A:\n    def draw(self): ...\n"]
)
def test_draw_without_a_function(write: Write, functions: str) -> None:
    assert complaints(write, functions=functions) == [
        "problem.md:13: parameters[0].values: reference.py defines no function draw"
    ]


def test_a_function_without_a_parameter(write: Write) -> None:
    line = REFERENCE.count("\n") + 1
    found = complaints(write, MINIMAL)
    assert found == [f"reference.py:{line}: draw: no parameter has values: {{distribution: draw}}"]
    assert complaints(write, MINIMAL, "def check(got): ...\n") == []


def test_a_file_that_is_no_python_is_left_to_the_grade(write: Write) -> None:
    assert complaints(write, functions="def draw(:\n") == []
    assert complaints(write, functions="\0") == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "values: {distribution: uniform, low: -2, high: 2}",
            "values: {distribution: draw}",
            "parameters[1].values: draw makes tensors, no scalar",
        ),
        (
            "const: false\n    shape: [n]\n",
            "const: false\n    shape: [n]\n    values: {distribution: draw}\n",
            "parameters[2].values: draw makes what is read, and y is only written",
        ),
        (
            "{distribution: draw}",
            "{distribution: draw, low: 0}",
            "parameters[0].values.low: unknown key for what draw of reference.py makes",
        ),
    ],
)
def test_what_cannot_be_drawn(write: Write, old: str, new: str, message: str) -> None:
    assert DRAWN.count(old) == 1
    (found,) = complaints(write, DRAWN.replace(old, new))
    assert found.partition(": ")[2].startswith(message)


@pytest.mark.parametrize(
    ("function", "name"),
    [("draw", "generator"), ("draw", "family"), ("check", "got"), ("check", "expected")],
)
def test_names_that_mean_something_else(write: Write, function: str, name: str) -> None:
    text = DRAWN.replace("name: s\n", f"name: {name}\n").replace("s: 0.5", f"{name}: 0.5")
    functions = DRAW if function == "draw" else f"{DRAW}def check(got): ...\n"
    (found,) = complaints(write, text, functions)
    message = f"parameters[1].name: {name} is another argument of {function} in reference.py"
    assert found.endswith(message)
    if function == "check":
        assert complaints(write, text, DRAW) == []


def test_sizes_that_are_no_parameters_are_given_and_named_likewise(write: Write) -> None:
    text = DRAWN.replace("parameters:\n", "sizes: [{name: family, range: [1, 8]}]\nparameters:\n")
    text = text.replace("s: 0.5", "s: 0.5, family: 2")
    (found,) = complaints(write, text)
    message = "sizes[0].name: family is another argument of draw in reference.py"
    assert found.endswith(message)
    assert complaints(write, text.replace("family", "groups")) == []


def test_loading_does_not_import_torch(write: Write) -> None:
    folder = write(DRAWN, reference=f"import torch\n{REFERENCE}{DRAW}")
    code = (
        "import sys; from pathlib import Path;"
        "from harness.problem.format.load import load_problem;"
        f"load_problem(Path({str(folder)!r})); sys.exit('torch' in sys.modules)"
    )
    root = Path(__file__).parents[3]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0
