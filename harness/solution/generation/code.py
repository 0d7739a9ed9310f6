"""Recognise code: its language, its entry point, and where it begins in prose.

By patterns of single lines: nothing here parses, so nothing can be exhausted by nesting.
"""

import re

from harness.frameworks import FRAMEWORKS
from harness.solution.contract import C_TEXT, USUAL
from harness.solution.suffixes import CUDA, PTX, PYTHON

_ENTRIES = "|".join(re.escape(entry) for entry in USUAL)
_C_ENTRIES = "|".join(re.escape(entry) for entry in USUAL if entry.in_c)

_PYTHON = re.compile(
    r"^(?:import[ \t]+[A-Za-z_]\w*(?=[.,;\s]|$)|from[ \t]+[\w.]+[ \t]+import\b"
    r"|(?:async[ \t]+)?def[ \t]+\w+[ \t]*\(|class[ \t]+\w+[ \t]*(?:\(|:[ \t]*(?:#.*)?$)"
    r"|@[A-Za-z_][\w.]*)",
    re.MULTILINE,
)
_CUDA = re.compile(
    r'^[ \t]*#[ \t]*include[ \t]*[<"]|^#(?:define|pragma|ifdef|ifndef)\b|__global__|__device__'
    r'|^[ \t]*extern[ \t]+"C"|^template[ \t]*<|^(?:static[ \t]+)?void[ \t]+\w+[ \t]*\(',
    re.MULTILINE,
)
_PTX_ENTRY = r"(?:\.(?:visible|weak)[ \t]+)?\.entry[ \t]+[A-Za-z_$%]"
_PTX_HEAD = r"\.version[ \t]+\d+\.\d+[ \t]*(?=//|$)|\.target[ \t]+sm_\d"
_PTX = re.compile(rf"^[ \t]*(?:{_PTX_HEAD}|{_PTX_ENTRY})", re.MULTILINE)
_SLASH_COMMENTS = r"(?:[ \t]*(?://[^\n]*)?\n)*"
_BELOW_COMMENTS = re.compile(_SLASH_COMMENTS)
_PTX_LAUNCH = re.compile(rf"{_SLASH_COMMENTS}?[ \t]*//[ \t]*launch[ \t]*:", re.IGNORECASE)
_PTX_KERNEL = re.compile(rf"^[ \t]*{_PTX_ENTRY}", re.MULTILINE)
NAMES = {
    PYTHON: {"python", "py", "python3", "pytorch", "triton", *FRAMEWORKS},
    CUDA: {"cuda", "cu", "cpp", "c++", "cc", "c", "cxx", "cuda-cpp", "cudacpp"},
    PTX: {"ptx"},
}
"""Names of languages on fences, by the suffix of a source file."""

_PYTHON_ENTRY = re.compile(
    rf"^(?:(?:async[ \t]+)?def|class)[ \t]+(?:{_ENTRIES})\b"
    rf"|^(?:{_ENTRIES})[ \t]*(?::[^=\n]*)?=(?!=)",
    re.MULTILINE,
)
_C_STEPS = re.compile(rf"{C_TEXT}|\b(void)[ \t\n]+(?:{_C_ENTRIES})[ \t\n]*\(|[{{}};]")

_DOCSTRING = re.compile(r"\s*[rR]?(?:\"\"\"|''')")
_COMMENT = re.compile(r"[ \t]*(?:#|//)")
_SLASHES = re.compile(r"[ \t]*//")
_PROSE = re.compile(
    r"\*\*|[-*] |\d+[.)] |>|[A-Z][\w'’]*,? [a-z][\w'’]*[ ,.:]|[A-Z][a-z]+: [A-Z]|(?:```|~~~)"
)
_QUOTES = re.compile(r'"""|\'\'\'')


def suffix_of(text: str, info: str = "") -> str | None:
    """``.cu``, ``.ptx`` or ``.py``, by what comes first in ``text``; else by ``info``, or None."""
    start = _BELOW_COMMENTS.match(text)
    if start is not None and _PTX.match(text, start.end()):
        return PTX
    python, cuda = _PYTHON.search(text), _CUDA.search(text)
    if python is not None and (
        cuda is None or python.start() <= cuda.start() or _DOCSTRING.match(text)
    ):
        return PYTHON
    if cuda is not None:
        return CUDA
    if not info:
        return None
    words = re.split(r"[\s{:,]+", info.lower().lstrip("{.")) or [""]
    return next((suffix for suffix, names in NAMES.items() if words[0] in names), None)


def defines_entry(text: str, suffix: str) -> bool:
    """Whether ``text`` defines an entry point; that of PTX is a kernel that its comments launch."""
    if suffix == PYTHON:
        return _PYTHON_ENTRY.search(text) is not None
    if suffix == PTX:
        return bool(_PTX_LAUNCH.match(text) and _PTX_KERNEL.search(text))
    declared = False
    for step in _C_STEPS.finditer(text):
        if step[1]:
            declared = True
        elif step[0] == "{" and declared:
            return True
        elif step[0] in "{};":
            declared = False
    return False


def bare_code(text: str) -> tuple[int, str] | None:
    """Code that stands in ``text`` without a fence, and its offset there.

    It begins with the first line that can only be code, and comments right above; prose after it
    is left out. None unless it defines an entry point or the text begins with it.
    """
    starts = [found.start() for each in (_PYTHON, _CUDA, _PTX) if (found := each.search(text))]
    if not starts:
        return None
    start = _with_comments(text, text.rfind("\n", 0, min(starts) + 1) + 1)
    code = text[start:]
    suffix = suffix_of(code)
    if suffix == PYTHON:
        code = _without_prose(code)
    elif "}" in code:
        stop = code.find("\n", code.rindex("}"))
        code = code if stop < 0 else code[: stop + 1]
    if suffix is None or (text[:start].strip() and not defines_entry(code, suffix)):
        return None
    return start, code


def _with_comments(text: str, start: int) -> int:
    """The offset of the comments that belong to the line at ``start``.

    They are right above it; between those with slashes, and below them, lines may be empty.
    """
    line = start
    while line > 0:
        above = text.rfind("\n", 0, line - 1) + 1
        adjacent = line == start and _COMMENT.match(text, above, line)
        if adjacent or _SLASHES.match(text, above, line):
            start = above
        elif text[above:line].strip():
            break
        line = above
    return start


def _without_prose(code: str) -> str:
    """Up to the first line that begins like a sentence, outside of strings of several lines."""
    stop, quoted = 0, False
    for line in code.split("\n"):
        if not quoted and _PROSE.match(line):
            return code[:stop]
        quoted ^= len(_QUOTES.findall(line)) % 2 == 1
        stop += len(line) + 1
    return code
