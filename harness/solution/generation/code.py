"""What code looks like: its language, whether it defines an entry point, where it begins in prose.

By patterns of single lines: nothing here parses, so nothing can be exhausted by nesting.
"""

import re

from harness.solution.contract import Entry

_ENTRIES = "|".join(re.escape(entry) for entry in Entry)
_C_ENTRIES = "|".join(re.escape(entry) for entry in Entry if entry.in_c)

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
_NAMES = {
    ".py": {"python", "py", "python3", "pytorch", "triton"},
    ".cu": {"cuda", "cu", "cpp", "c++", "cc", "c", "cxx", "cuda-cpp", "cudacpp"},
}

_PYTHON_ENTRY = re.compile(
    rf"^(?:(?:async[ \t]+)?def|class)[ \t]+(?:{_ENTRIES})\b"
    rf"|^(?:{_ENTRIES})[ \t]*(?::[^=\n]*)?=(?!=)",
    re.MULTILINE,
)
_C_STEPS = re.compile(
    rf"//[^\n]*|/\*|\*/|\"(?:[^\"\\\n]|\\.)*\"?|\b(void)[ \t\n]+(?:{_C_ENTRIES})[ \t\n]*\(|[{{}};]"
)

_COMMENT = re.compile(r"[ \t]*(?:#|//)")
_PROSE = re.compile(
    r"\*\*|[-*] |\d+[.)] |>|[A-Z][\w'’]*,? [a-z][\w'’]*[ ,.:]|[A-Z][a-z]+: [A-Z]|(?:```|~~~)"
)
_QUOTES = re.compile(r'"""|\'\'\'')


def suffix_of(text: str, info: str = "") -> str | None:
    """``.cu`` or ``.py``, by what comes first in ``text``; by ``info`` where it does not tell.

    None where neither looks like a language that submissions are written in.
    """
    python, cuda = _PYTHON.search(text), _CUDA.search(text)
    if python is not None and (cuda is None or python.start() <= cuda.start()):
        return ".py"
    if cuda is not None:
        return ".cu"
    words = re.split(r"[\s{:,]+", info.lower().lstrip("{.")) or [""]
    return next((suffix for suffix, names in _NAMES.items() if words[0] in names), None)


def defines_entry(text: str, suffix: str) -> bool:
    """Whether ``text`` defines one of the entry points of :class:`~.contract.Entry`."""
    if suffix == ".py":
        return _PYTHON_ENTRY.search(text) is not None
    declared = commented = False
    for step in _C_STEPS.finditer(text):
        what = step[0]
        if commented:
            commented = what != "*/"
        elif what == "/*":
            commented = True
        elif step[1]:
            declared = True
        elif what == "{" and declared:
            return True
        elif what in "{};":
            declared = False
    return False


def bare_code(text: str) -> tuple[int, str] | None:
    """Code that stands in ``text`` without a fence, and its offset there.

    It begins with the first line that can only be code, and comments right above; prose after it
    is left out. None unless it defines an entry point or the text begins with it.
    """
    starts = [found.start() for found in (_PYTHON.search(text), _CUDA.search(text)) if found]
    if not starts:
        return None
    start = text.rfind("\n", 0, min(starts) + 1) + 1
    start = _with_comments(text, start)
    suffix = suffix_of(text[start:])
    code = _without_prose(text[start:]) if suffix == ".py" else _to_last_brace(text[start:])
    if suffix is None or (text[:start].strip() and not defines_entry(code, suffix)):
        return None
    return start, code


def _with_comments(text: str, start: int) -> int:
    while start > 0:
        above = text.rfind("\n", 0, start - 1) + 1
        if not _COMMENT.match(text, above, start):
            break
        start = above
    return start


def _without_prose(code: str) -> str:
    """Up to the first line that begins like a sentence, outside of strings of several lines."""
    kept = 0
    quoted = False
    for line in code.split("\n"):
        if not quoted and _PROSE.match(line):
            return code[:kept]
        if len(_QUOTES.findall(line)) % 2:
            quoted = not quoted
        kept += len(line) + 1
    return code


def _to_last_brace(code: str) -> str:
    last = code.rfind("}")
    if last < 0:
        return code
    stop = code.find("\n", last)
    return code if stop < 0 else code[: stop + 1]
