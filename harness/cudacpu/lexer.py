"""CUDA C++ source as tokens: enough of the language to rewrite it without being fooled."""

import re
from enum import StrEnum
from typing import NamedTuple


class TokenKind(StrEnum):
    """The kind of a token. Comments and white space are no tokens."""

    NAME = "name"
    NUMBER = "number"
    STRING = "string"  # string and character literals, raw ones included
    PUNCTUATION = "punctuation"  # one character each
    DIRECTIVE = "directive"  # a preprocessor line; of `#define`, only up to the macro's body
    END_OF_DEFINE = "end of define"  # empty: where the body of a `#define` ends


class Token(NamedTuple):
    """A piece of the source, `start` to `end`."""

    kind: TokenKind
    start: int
    end: int
    text: str


_SPLICE = r"\\[ \t]*\r?\n"
_BLOCK_COMMENT = r"/\*.*?(?:\*/|\Z)"
_LINE_COMMENT = rf"//(?:{_SPLICE}|[^\n])*"
_RAW_STRING = r'(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s"]{0,16})\(.*?(?:\)(?P=delimiter)"|\Z)'
_STRING = rf'(?:u8|[uUL])?"(?:{_SPLICE}|\\.|[^"\\\n])*"?'
_CHARACTER = rf"(?:u8|[uUL])?'(?:{_SPLICE}|\\.|[^'\\\n])*'?"
_NUMBER = r"\.?[0-9](?:[eEpP][+-]|'?[0-9A-Za-z_.])*"
_NAME = r"[^\W\d](?:\w|\$)*"

_TOKEN = re.compile(
    rf"""
      (?P<comment>{_BLOCK_COMMENT}|{_LINE_COMMENT})
    | (?P<newline>\n)
    | (?P<space>(?:[^\S\n]|{_SPLICE})+)
    | (?P<raw>{_RAW_STRING})
    | (?P<string>{_STRING}|{_CHARACTER})
    | (?P<number>{_NUMBER})
    | (?P<name>{_NAME})
    | (?P<punctuation>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT = re.compile(f"{_BLOCK_COMMENT}|{_LINE_COMMENT}", re.DOTALL)
_HEADER = re.compile(r"[ \t]*(?:<[^>\n]*>|\"[^\"\n]*\")")
_DEFINE_HEAD = re.compile(rf"(?:\s|{_SPLICE})*{_NAME}(?:\([^)\n]*\))?")
_DIRECTIVE_NAME = re.compile(rf"#(?:[^\S\n]|{_SPLICE}|/\*.*?\*/)*({_NAME})?", re.DOTALL)


def tokenize(text: str) -> list[Token]:
    """Every token of `text` in order. Never fails: what is malformed becomes some token."""
    tokens: list[Token] = []
    position = 0
    line_is_blank = True  # so far: a `#` would begin a directive
    in_define = False
    while position < len(text):
        match = _TOKEN.match(text, position)
        assert match is not None and match.lastgroup is not None, "the last alternative is `.`"
        group = "raw" if match.lastgroup == "delimiter" else match.lastgroup
        end = match.end()
        if group == "newline":
            if in_define:
                tokens.append(Token(TokenKind.END_OF_DEFINE, position, position, ""))
                in_define = False
            line_is_blank = True
        elif group == "punctuation" and match.group() == "#" and line_is_blank and not in_define:
            end, in_define = _directive_end(text, position)
            tokens.append(Token(TokenKind.DIRECTIVE, position, end, text[position:end]))
            line_is_blank = False
        elif group not in ("space", "comment"):
            kind = TokenKind.STRING if group == "raw" else TokenKind(group)
            tokens.append(Token(kind, position, end, match.group()))
            line_is_blank = False
        position = end
    if in_define:
        tokens.append(Token(TokenKind.END_OF_DEFINE, position, position, ""))
    return tokens


def line_of(text: str, position: int) -> int:
    """The line, from 1, that `position` is on."""
    return text.count("\n", 0, position) + 1


def directive(token: Token) -> tuple[str, str]:
    """The word after `#` ("" for none), and the text after that without comments."""
    match = _DIRECTIVE_NAME.match(token.text)
    assert match is not None, "a directive starts with #"
    return match[1] or "", _COMMENT.sub(" ", token.text[match.end() :]).strip()


def _directive_end(text: str, start: int) -> tuple[int, bool]:
    """The end of the directive's token, and whether a macro's body follows it."""
    head = _DIRECTIVE_NAME.match(text, start)
    assert head is not None, "start is at a #"
    name, position = head.group(1), head.end()
    if name == "define":
        macro = _DEFINE_HEAD.match(text, position)
        return (macro.end() if macro else position), True
    if name in ("include", "include_next", "import"):
        header = _HEADER.match(text, position)
        position = header.end() if header else position
    # The rest is text, not tokens (`#error don't`), but comments still count.
    opaque = ["comment", "space", *(["string"] if name in ("if", "elif", "line") else [])]
    while position < len(text) and text[position] != "\n":
        match = _TOKEN.match(text, position)
        assert match is not None, "the last alternative is `.`"
        position = match.end() if match.lastgroup in opaque else position + 1
    return position, False
