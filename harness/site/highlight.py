"""Code with colours: what came is escaped, and spans of a few classes are put around its tokens.

Pygments says what a token is. Its grammars look ahead without a bound, so that a hostile file could
take hours: of C++ only the part that knows words is used, and what is large, or has very long lines
or blanks, is shown without colours.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from typing import ClassVar, NamedTuple

from markupsafe import Markup
from pygments.lexer import Lexer, include
from pygments.lexers import CudaLexer, PtxLexer, PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Punctuation, String, _TokenType

from harness.text.plain import plain_lines

LONGEST = 24_000
"""Characters of a file with colours; markup makes it three times as long."""

ROOM = 60_000
"""Bytes of a page that the code on it may take."""

_TOO_LONG = re.compile(r"[^\n]{400}|\s{100}")
"""A line or a blank that is too long for the grammars."""

_CLASSES = (
    (Comment.Preproc, "cp"),
    (Comment, "c"),
    (String, "s"),
    (Number, "m"),
    (Keyword.Type, "t"),
    (Keyword, "k"),
    (Name.Function, "f"),
    (Name.Builtin, "t"),
)
"""Kinds of tokens with the classes of the style sheet; all others have none."""


class _Cuda(CudaLexer):
    """CUDA C++ without the rules that look for whole functions."""

    tokens: ClassVar = {
        **CudaLexer.tokens,
        "root": [include("whitespace"), include("statements"), (r"[{};]", Punctuation)],
    }


class Code(NamedTuple):
    """What a page shows of a file."""

    markup: Markup
    """The contents of an element, at most :data:`ROOM` bytes."""
    whole: bool
    """Whether it is all of the file."""


def highlighted(source: str, language: str) -> Code:
    """``source`` with colours where that is safe and not too much."""
    text = plain_lines(source)
    if len(text) <= LONGEST and not _TOO_LONG.search(text):
        coloured = Markup("").join(_spans(text, language))
        if _size(coloured) <= ROOM:
            return Code(coloured, whole=True)
    shown = text
    while _size(Markup.escape(shown)) > ROOM:
        shown = shown[: min(len(shown) * 3 // 4, ROOM)]
    return Code(Markup.escape(shown), whole=shown == text)


def _size(markup: Markup) -> int:
    return len(markup.encode())


def _spans(text: str, language: str) -> Iterator[Markup]:
    tokens = _lexer(language).get_tokens(text)
    for kind, group in groupby(tokens, lambda token: _class(token[0])):
        words = "".join(value for _, value in group)
        yield (
            Markup('<span class="{}">{}</span>').format(kind, words)
            if kind
            else Markup.escape(words)
        )


@cache
def _lexer(language: str) -> Lexer:
    kinds: dict[str, type[Lexer]] = {"cuda": _Cuda, "ptx": PtxLexer}
    return kinds.get(language, PythonLexer)(stripnl=False, ensurenl=False)


@cache
def _class(token: _TokenType) -> str:
    return next((name for kind, name in _CLASSES if token in kind), "")
