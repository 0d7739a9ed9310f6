"""Code with colours says what the file says, whatever it holds."""

import html
import re

import pytest
from support.hostile_words import ALL, LINES, complaint
from support.site_samples import CODE, ROOT

from harness.site.highlight import LONGEST, ROOM, highlighted
from harness.text.plain import plain_lines

SAMPLES = sorted(ROOT.glob("solutions/*/samples/*.*"))
LANGUAGES = {".cu": "cuda", ".ptx": "ptx"}


def _text(markup: str) -> str:
    return html.unescape(re.sub(r"</?span[^>]*>", "", markup))


@pytest.mark.parametrize("suffix", [".cu", ".ptx", ".py"])
def test_samples_keep_every_character(suffix: str) -> None:
    some = [path for path in SAMPLES if path.suffix == suffix][:6]
    assert some
    for path in some:
        source = path.read_text(encoding="utf-8")
        shown = highlighted(source, LANGUAGES.get(suffix, "triton"))
        assert shown.whole and _text(shown.markup) == source
        assert "<span" in shown.markup


def test_words_have_the_class_of_their_kind() -> None:
    markup = highlighted(CODE, "cuda").markup
    assert '<span class="c">// Adds &lt;two&gt; &amp; more.\n</span>' in markup
    for kind, word in (("k", "__global__"), ("t", "void"), ("m", "2.0f"), ("t", "threadIdx")):
        assert f'<span class="{kind}">{word}</span>' in markup


@pytest.mark.parametrize("language", ["cuda", "ptx", "triton", "unheard-of"])
@pytest.mark.parametrize(
    "source",
    [
        ALL,
        LINES,
        "</span></pre><script>alert(1)</script>",
        "/* never closed <b>",
        '"""never closed & <i>',
        "'" * 200 + "\n" + '"' * 200,
        "",
        "\n\n x",
        "no newline at the end",
    ],
    ids=range(9),
)
def test_hostile_code_is_text(source: str, language: str) -> None:
    shown = highlighted(source, language)
    assert _text(shown.markup) == plain_lines(source)
    assert not complaint(_text(shown.markup))
    assert set(re.findall(r"<[^>]*>", shown.markup)) <= {
        "</span>",
        *(f'<span class="{kind}">' for kind in ("c", "cp", "f", "k", "m", "s", "t")),
    }


@pytest.mark.parametrize(
    "source", ["int f" + " " * 3000, "a" * 3000, "x\n" * LONGEST, "int f" + "\n" * 3000]
)
def test_what_a_grammar_could_take_hours_for_has_no_colours(source: str) -> None:
    for language in ("cuda", "triton", "ptx"):
        shown = highlighted(source, language)
        assert shown.whole and shown.markup == source


def test_a_large_file_is_cut() -> None:
    for source in ("<&" * 100_000, "é" * 100_000, "int a;\n" * 20_000):
        shown = highlighted(source, "cuda")
        assert not shown.whole
        assert len(shown.markup.encode()) <= ROOM
        assert source.startswith(_text(shown.markup)) and len(shown.markup) > ROOM // 4
