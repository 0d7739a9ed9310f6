"""A generation is read in one pass, whatever is nested in it: twice the text is twice the work."""

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from harness.solution.generation.extract import Extracted, extract

CODE = "def solution(x): pass\n"


def falling(size: int) -> str:
    """Fences that wrap Markdown, each one backtick shorter than the one that it is in."""
    longest = int((2 * size) ** 0.5)
    return "".join("`" * n + "markdown\n" for n in range(longest, 2, -1)) + CODE


def indented(size: int) -> str:
    """The same, each four columns further to the right."""
    return "".join("\t" * n + "```md\n" for n in range(int((2 * size) ** 0.5))) + CODE


def both(size: int) -> str:
    """As deep as so many characters allow, and as many lines again that are looked at there."""
    side = int((size / 2) ** (1 / 3)) - 3
    rows = [
        "\t" * column + "`" * n + "md\n" for column in range(side) for n in range(side + 2, 2, -1)
    ]
    nested = "".join(rows)
    return nested + "\t" * side + "``` x\n" * (len(nested) // 7) + CODE


def repeated(piece: str) -> Callable[[int], str]:
    return lambda size: piece * (size // len(piece)) + CODE


SHAPES = {
    "falling": falling,
    "indented": indented,
    "both": both,
    "wrapped again and again": repeated("````md\n```py\nx\n```\n````\n"),
    "unclosed": repeated("```markdown\n~~~python\n"),
    "backticks": repeated("`"),
    "a long line": repeated("~~~```"),
    "fences": repeated("```\n"),
    "thoughts": repeated("<think>"),
    "thoughts that end": repeated("</think>\n"),
    "thoughts in fences": repeated("<think>\n```\n</think>\n```py\nx\n"),
    "tags": repeated("<code>"),
    "ends of outputs": repeated("<think></think>" + " " * 198 + "x>"),
    "comments": repeated("// launch\n"),
    "empty lines": repeated("\n"),
}


def calls(text: str) -> int:
    """Calls of functions that extracting takes, of Python's own too."""
    count = 0

    def profile(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        extract(text)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_twice_the_text_is_twice_the_work(shape: Callable[[int], str]) -> None:
    half, whole = shape(16_000), shape(32_000)
    longer = len(whole) / len(half)
    assert calls(whole) <= 1.3 * longer * calls(half) + 2_000


@pytest.mark.corpus
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_largest_file(shape: Callable[[int], str]) -> None:
    assert extract(shape((1 << 20) - 100))


@pytest.mark.parametrize("shape", [falling, indented])
def test_code_within_a_thousand_fences(shape: Callable[[int], str]) -> None:
    found = extract(shape(600_000) + "```py\n" + CODE)
    assert isinstance(found, Extracted)
    assert found.text.lstrip().startswith("def solution")


@pytest.mark.parametrize("depth", [0, 1, 7])
def test_a_fence_closes_all_that_are_in_it(depth: int) -> None:
    # From the outermost on, each opens in the one before; the last line closes the first.
    inner = "".join("    " * n + "```md\n" for n in range(1, depth + 1))
    text = f"`````md\n{inner}~~~py\n{CODE}`````\n```cuda\n__global__ void f() {{}}\n```\n"
    found = extract(text)
    assert isinstance(found, Extracted)
    assert (found.text, found.generation.found) == (CODE, "unclosed fence")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("x = 1~~~`````", "fence"),  # what closes the inner one is before what closes the outer
        ("x = 1`````", "unclosed fence"),
        ("`````python", "unclosed fence"),  # another as long as the outer one
    ],
)
def test_a_line_that_ends_two(line: str, kind: str) -> None:
    found = extract(f"`````md\n~~~py\n{CODE}{line}\n")
    assert isinstance(found, Extracted)
    assert found.generation.found == kind
    assert found.text == CODE + line.rstrip("`~").removesuffix("`````python")
