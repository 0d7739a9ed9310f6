"""What a text is: code alone, or a language model's output with code in it."""

import re
from typing import get_args

from harness.commands.stdin import SUFFIXES
from harness.errors import UsageError
from harness.records.refs import Found
from harness.solution.generation.extract import NoCode, extract
from harness.text.suggest import did_you_mean

_ANSWER = SUFFIXES["text"]
_BARE: Found = get_args(Found)[3]
_COMMENTS = re.compile(
    r"""(?>\s+|\#[^\n]*|//[^\n]*|/\*.*?\*/|\"\"\".*?\"\"\"|'''.*?''')*+""", re.DOTALL
)
_PATH = re.compile(r"[^\s\0<>\"'`;]{1,255}\.(?:cu|ptx|py|txt|md)")


def is_path(text: str) -> bool:
    """Whether ``text`` looks like the path of a file rather than like code."""
    return _PATH.fullmatch(text.strip()) is not None


def suffix_of(text: str, language: str | None) -> str:
    """The suffix of a file with ``text``: that of its code if it is nothing but code.

    Else that of a model's output, from which the code is taken. ``language`` decides where it is
    named.

    Raises:
        UsageError: there is no such language.
    """
    if language is not None:
        if language not in SUFFIXES:
            hint = did_you_mean(language, SUFFIXES) or f" (one of {', '.join(SUFFIXES)})"
            raise UsageError(f"language {language!r}: there is none{hint}")
        return SUFFIXES[language]
    found = extract(text)
    if isinstance(found, NoCode) or found.generation.found != _BARE:
        return _ANSWER
    before, code, after = text.partition(found.text.strip())
    alone = code and not after.strip() and _COMMENTS.fullmatch(before)
    return found.suffix if alone else _ANSWER
