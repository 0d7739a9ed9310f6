"""Untrusted text: nothing that a terminal interprets comes out."""

import unicodedata

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from harness.text.plain import head, plain, plain_lines, tail

HIDDEN = {"Cc", "Cf", "Cn", "Cs", "Zl", "Zp"}
HOSTILE = st.text(
    alphabet=st.one_of(
        st.sampled_from("\x1b\x9b\x9d[]()0123;mJHK\x07\\\r\n\t\u202e\u2066\u200b\ufeff\x00\ud800"),
        st.characters(),
    ),
    max_size=60,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("alice", "alice"),
        ("Ünïcödé 漢字 🚀", "Ünïcödé 漢字 🚀"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x9b31mred", "red"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b", "\\x1b"),
        ("\x1b]0;unfinished", "\\x1b]0;unfinished"),
        ("\x1bc", "\\x1bc"),  # would reset the terminal
        ("\x1b\x1b[0m[2J", "\\x1b[2J"),  # what is left after dropping is no sequence
        ("a\nb\tc\rd\0", "a\\nb\\tc\\rd\\x00"),
        ("user\u202egnp.exe", "user\\u202egnp.exe"),
        ("\u2066\u200b\ufeff\u2028", "\\u2066\\u200b\\ufeff\\u2028"),
        ("\U000e0041", "\\U000e0041"),
        ("\u3164\u2800", "\\u3164\\u2800"),
        ("\udc80", "\\udc80"),
        ("[bold]x[/bold] :smile:", "[bold]x[/bold] :smile:"),
        ("std::vector ::errors ##x", "std::vector ::errors ##x"),
        ("::ERROR", "\\x3a:ERROR"),
        ("", ""),
    ],
)
def test_plain_escapes_what_is_not_printable(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_lines_keep_their_breaks_and_expand_tabs() -> None:
    assert plain_lines("a\tb\r\nc\x1b[0m\rd\n") == "a       b\nc\\rd\n"


@given(HOSTILE, st.none() | st.integers(1, 20))
@example("\x1b" * 30, 3)
def test_nothing_hidden_comes_out(text: str, limit: int | None) -> None:
    one, many = plain(text, limit), plain_lines(text, limit)
    assert not any(unicodedata.category(c) in HIDDEN for c in one)
    assert not any(unicodedata.category(c) in HIDDEN for c in many.replace("\n", ""))
    assert limit is None or len(one) <= limit
    assert limit is None or len(many) <= limit
    one.encode("utf-8")
    assert plain(one) == one


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S"]), max_size=40))
def test_visible_text_is_not_changed(text: str) -> None:
    visible = text.translate(dict.fromkeys(map(ord, "\u115f\u1160\u3164\uffa0\u2800")))
    assume("::" not in visible and "##" not in visible)  # a command for a CI system may begin so
    assert plain(visible) == visible


def test_plain_marks_where_text_was_cut() -> None:
    assert plain("abcdef", 4) == "abc…"
    assert plain("abcd", 4) == "abcd"


def test_plain_cuts_megabytes_before_escaping_them() -> None:
    assert len(plain("\x1b[0m" * 5_000_000, 10)) <= 10
    assert tail("x" * 50_000_000, 5, width=20) == "x" * 19 + "…"


def test_head_and_tail_count_the_lines_left_out() -> None:
    text = "\n".join("abcde")
    assert head(text, 2) == "a\nb\n… 3 more lines"
    assert tail(text, 4) == "… 1 earlier line\nb\nc\nd\ne"
    assert head(text, 5) == tail(text, 9) == text
    assert tail("", 3) == ""
