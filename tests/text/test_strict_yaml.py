import time
from typing import Any

import pytest

from harness.text.strict_yaml import MAX_BYTES, YamlError, compose, decode, values


@pytest.mark.parametrize(
    ("source", "held"),
    [
        ("", None),
        ("a: 1\nb: [x, 1.5, true, null]\n", {"a": 1, "b": ["x", 1.5, True, None]}),
        ("a: &x", YamlError),
        ("[[[[[[[1]]]]]]]", [[[[[[[1]]]]]]]),
        ("a: '2020-13-01'", {"a": "2020-13-01"}),
    ],
)
def test_values_have_yamls_own_types(source: str, held: Any) -> None:
    if held is YamlError:
        with pytest.raises(YamlError):
            values(source, what="it")
    else:
        assert values(source, what="it") == held


@pytest.mark.parametrize(
    ("source", "line", "complaint"),
    [
        ("a: 1\nb: *x\n", 2, "anchors and aliases are not allowed: write the value out"),
        ("a: 1\nb: &x 2\n", 2, "anchors and aliases are not allowed: write the value out"),
        ("a: 1\nb: [[[[[[[[1]]]]]]]]\n", 2, "nested deeper than 8 levels"),
        ("a: 1\nb: 2\na: 3\n", 3, "a: given twice (first on line 1)"),
        ("a:\n  - b: 1\n    b: 2\n", 3, "b: given twice (first on line 2)"),
        ("a: 1\n[b]: 2\n", 2, "a key must be plain text"),
        ("a: 1\nb: !mine 2\n", 2, "YAML tags (!mine) are not allowed"),
        ("a: 1\nb: !!binary 2\n", 2, "are not allowed"),
        ("a: 1\nb: 2020-13-01\n", 2, "no timestamp: put the value in quotes"),
        ("a: 1\nb: !!int ''\n", 2, "no int: put the value in quotes"),
        ("a: 1\nb: !!bool x\n", 2, "no bool: put the value in quotes"),
        ("a: 1\nb: !!timestamp x\n", 2, "no timestamp: put the value in quotes"),
        ("a: 1\nb: !!map x\n", 2, "not valid YAML: expected a mapping node"),
        ("a: 1\nb: [1\n", 3, "not valid YAML: expected"),
        ("a: 1\n--- \nb: 1\n", 2, "not valid YAML: but found another document"),
        ("a: 1\nb: \x07", 2, "not valid YAML: special characters"),
        ('a: "\\UFFFFFFFF"', 1, "not valid YAML"),
        ("a: " + "x" * MAX_BYTES, 1, f"it is larger than {MAX_BYTES} bytes"),
    ],
)
def test_what_is_refused_is_named_with_its_line(source: str, line: int, complaint: str) -> None:
    with pytest.raises(YamlError) as refused:
        values(source, what="it")
    assert refused.value.line == line
    assert complaint in refused.value.message
    assert str(refused.value).startswith(f"line {line}: ")


def test_lines_are_the_files() -> None:
    root = compose("a: 1\n", what="it", first_line=7)
    assert root is not None
    assert root.start_mark.line == 6
    with pytest.raises(YamlError) as refused:
        compose("a: [", what="it", first_line=7)
    assert refused.value.line >= 7


@pytest.mark.parametrize("text", ["[" * 60_000, "- " * 30_000, "? " * 30_000, "{a: " * 16_000])
def test_deep_nesting_is_refused_at_once(text: str) -> None:
    started = time.process_time()
    with pytest.raises(YamlError):
        values(text, what="it")
    assert time.process_time() - started < 2.0


def test_bytes_are_utf8() -> None:
    assert decode(b"\xef\xbb\xbfa\r\nb\rc") == "a\nb\nc"
    with pytest.raises(YamlError) as refused:
        decode(b"a\nb\xff")
    assert (refused.value.line, refused.value.message) == (2, "not UTF-8 (byte 3 is 0xff)")
