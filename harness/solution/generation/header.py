"""The header of a dump: the lines on top that say where it comes from.

::

    # Problem: 6_Matmul_with_large_K_dimension_
    # Model: some/model
    # Generated: 20250529_230123
    # Tokens used: 4096
"""

import contextlib
import re
from collections import defaultdict
from datetime import datetime

from harness.records.refs import Generation

_MAX_LINES = 32
_MAX_DIGITS = 12
_LINE = re.compile(
    r"[ \t]{0,8}(?:#{1,6}|//|--)?[ \t]{0,8}\*{0,2}([A-Za-z][A-Za-z _-]{0,30}?)\*{0,2}"
    r"[ \t]{0,8}:\*{0,2}"
)
_KEYS = {
    "problem": "problem",
    "task": "problem",
    "model": "model",
    "generated": "generated",
    "date": "generated",
    "tokens used": "tokens",
    "tokens": "tokens",
    "completion tokens": "tokens",
    "max tokens": "token limit",
    "token limit": "token limit",
    "finish reason": "finish",
    "stop reason": "finish",
}
_ALSO = {
    "provider", "backend", "temperature", "top p", "top k", "seed", "sample", "level", "language",
    "prompt tokens", "total tokens", "time", "elapsed", "attempt", "gpu", "problem id",
}  # fmt: skip
"""Further keys of a header, which are ignored."""

_DATES = ("%Y%m%d_%H%M%S", "%Y%m%d-%H%M%S", "%Y%m%dT%H%M%S", "%Y%m%d")
_CUT_OFF = {"length", "max_tokens", "max tokens", "max_output_tokens"}
_MIN_TOKENS = 256


def truncated(header: Generation) -> bool:
    """Whether the output was cut off at a limit on its tokens, by what the header says.

    It says so (``Finish reason: length``), it names a limit that was reached, or the number of
    tokens is typical of limits: from 256 on a power of two, or a multiple of 1000 or 1024.
    """
    if header.finish.lower() in _CUT_OFF:
        return True
    if header.tokens is None:
        return False
    if header.token_limit is not None:
        return header.tokens >= header.token_limit
    return is_round(header.tokens)


def is_round(tokens: int) -> bool:
    """Whether ``tokens`` is a number that people set as a limit."""
    power = tokens & (tokens - 1) == 0
    return tokens >= _MIN_TOKENS and (power or tokens % 1000 == 0 or tokens % 1024 == 0)


def read_header(text: str) -> tuple[Generation, int]:
    """What the header of ``text`` says, and the offset at which it ends: 0 if there is none.

    It is the block of ``key: value`` lines on top, up to the first other line, and names a problem
    or a model. Of a key that comes twice the first counts.
    """
    values = defaultdict[str, str](str)
    position = len(text) - len(text.lstrip("\ufeff \t\n"))
    for _ in range(_MAX_LINES):
        stop = text.find("\n", position)
        stop = len(text) if stop < 0 else stop
        found = _LINE.match(text, position, stop)
        key = " ".join(found[1].lower().replace("_", " ").split()) if found else ""
        if found is None or (key not in _KEYS and key not in _ALSO):
            break
        if key in _KEYS:
            values.setdefault(_KEYS[key], text[found.end() : stop].strip().strip("*`").strip())
        position = min(stop + 1, len(text))
    if not values["problem"] and not values["model"]:
        return Generation(), 0
    header = Generation(
        problem=values["problem"],
        model=values["model"],
        generated=_date(values["generated"]),
        tokens=_count(values["tokens"]),
        token_limit=_count(values["token limit"]),
        finish=values["finish"],
    )
    return header, position


def _count(text: str) -> int | None:
    digits = text.replace(",", "").replace("_", "")
    return int(digits) if digits.isdecimal() and len(digits) <= _MAX_DIGITS else None


def _date(text: str) -> str:
    """``text`` in ISO 8601 if it is a date; no zone is made up where it names none."""
    for form in _DATES:
        with contextlib.suppress(ValueError):
            return datetime.strptime(text, form).isoformat()
    return text
