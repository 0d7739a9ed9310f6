"""Names of authors: one form, one identity for all spellings, a warning of those that look it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.ci import policy
from harness.text import names


@pytest.mark.parametrize("name", ["alice", "Alice", "a", "A1", "gpt-4.1", "a_b+c", "x" * 64])
def test_names(name: str) -> None:
    assert names.is_name(name)
    assert names.shown(name) == name


@pytest.mark.parametrize(
    "text",
    ["", " ", "alice ", " alice", "alice\n", "-a", ".a", "a/b", "a b", "a\0", "é", "аlice",
     "x" * 65, "\uff21lice", "a\u202e", "a\u200b", "a\u0301", "١"],
)  # fmt: skip
def test_no_names(text: str) -> None:
    assert not names.is_name(text)
    assert names.shown(text).rstrip("…").isascii()


@pytest.mark.parametrize(
    "spelling",
    ["ALICE", "Alice", "alice ", "\uff21\uff2c\uff29\uff23\uff25", "al\u200bice", "a\u202elice"],
)
def test_spellings_of_one_name(spelling: str) -> None:
    assert names.key(spelling) == names.key("alice") == "alice"
    assert names.lookalike(spelling, ["alice"]) is None


@pytest.mark.parametrize(
    ("name", "known"), [("a1ice", "alice"), ("aIice", "alice"), ("B0b", "bob"), ("rnike", "mike")]
)
def test_lookalikes(name: str, known: str) -> None:
    assert names.lookalike(name, ["zed", known]) == known
    assert names.lookalike(known, ["zed", name]) == name
    assert names.lookalike(name, ["zed"]) is None


@given(st.from_regex(names.PATTERN, fullmatch=True))
def test_names_are_keys_but_for_case(name: str) -> None:
    assert names.key(name) == name.lower() == names.key(name.upper())


def test_pull_requests_take_the_same_names() -> None:
    for name in ("alice", "x" * 64, "a+b"):
        assert policy.place_of(f"solutions/p/{name}/f.cu") is not None
    for name in ("x" * 65, "-a", "é", "a b"):
        assert policy.place_of(f"solutions/p/{name}/f.cu") is None
