"""A problem's statement as HTML: Markdown without raw HTML, images or odd links; formulas drawn."""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup
from mdit_py_plugins.dollarmath import dollarmath_plugin

from harness.site.mathml import mathml
from harness.text.plain import plain, plain_lines

_TOP = 3
"""Level of a statement's highest heading: a page has its own above."""


def statement_html(markdown: str) -> Markup:
    """Safe HTML: no tag, attribute or script of the author's, links to the web only.

    Control and direction characters are shown as escapes, also those that entities stand for.
    """
    parser = _parser()
    tokens = parser.parse(plain_lines(markdown))
    _settle_headings(tokens)
    for token in tokens:
        for each in [token, *(token.children or [])]:
            if each.type in ("text", "code_inline", "math_inline"):
                each.content = plain(each.content)
            elif each.type in ("fence", "code_block"):
                each.content = plain_lines(each.content)
                each.info = ""
    rendered = parser.renderer.render(tokens, parser.options, {})
    # Wide tables and formulas scroll by themselves, never the page.
    framed = re.sub(
        r"<table>(.*?)</table>",
        r'<div class="scroll" role="group" aria-label="Table" tabindex="0">'
        r"<table>\1</table></div>",
        rendered,
        flags=re.DOTALL,
    )
    framed = framed.replace("<pre>", '<pre role="group" aria-label="Example" tabindex="0">')
    return Markup(framed.replace("<th>", '<th scope="col">'))  # noqa: S704 - the parser's own


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    dollarmath_plugin(
        parser,
        allow_labels=False,
        allow_space=False,
        allow_blank_lines=False,
        double_inline=True,
    )
    parser.validateLink = _is_link  # type: ignore[method-assign, assignment]
    parser.add_render_rule("math_inline", _inline)
    parser.add_render_rule("math_inline_double", _block)
    parser.add_render_rule("math_block", _block)
    return parser


def _inline(_: object, tokens: Sequence[Token], index: int, *_rest: object) -> str:
    return str(mathml(tokens[index].content, display=False))


def _block(_: object, tokens: Sequence[Token], index: int, *_rest: object) -> str:
    frame = '<div class="scroll formula" role="group" aria-label="Formula" tabindex="0">{}</div>\n'
    return frame.format(mathml(tokens[index].content, display=True))


def _is_link(address: str) -> bool:
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc) and address.isprintable()


def _settle_headings(tokens: list[Token]) -> None:
    """Headings below the page's own, without a level left out."""
    last = _TOP - 1
    openings = (token for token in tokens if token.type == "heading_open")
    closings = (token for token in tokens if token.type == "heading_close")
    for opening, closing in zip(openings, closings, strict=True):
        last = min(max(int(opening.tag[1]) + 1, _TOP), last + 1, 6)
        opening.tag = closing.tag = f"h{last}"
