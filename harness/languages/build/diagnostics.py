"""A compiler's output, read for its errors and rewritten to name the file that was submitted.

The compiler saw a copy under a neutral name in a private directory. Its output is untrusted text:
it is rewritten and cut, never interpreted.
"""

import difflib
import re
from pathlib import Path

LOG_BYTES = 64 << 10
MESSAGE_CHARACTERS = 500

_ERROR = re.compile(
    r"^(.*?\b(?:[Ff]atal error|[Ee]rror|fatal)\b ?(?:#[\w-]+)?\s*: .*)$", re.MULTILINE
)
"""The assembler writes both words with a capital."""

PLACE = re.compile(r":\d+:|\bline \d+; error")
"""A line of source in a complaint. One without may have come from outside (a full disk)."""

CHILD_KILLED = re.compile(
    r"^(?:\S*(?:\+\+|cc|clang)[\w.-]*: fatal error: Killed signal terminated program "
    r"|collect2: (?:fatal )?error: ld terminated with signal 9"
    r"|(?:nvcc )?(?:error|fatal)[ ]*: '[^'\n]{0,80}' died due to signal 9 "
    r"|\S*clang[\w.+-]*: error: unable to execute command: Killed)",
    re.MULTILINE,
)
"""A compiler driver's words when one of its parts was killed: as far as we know not by the
submission, but for want of memory. A submission that prints such a line gains no verdict by it."""

OUT_OF_MEMORY = re.compile(
    r"^(?:\S+: out of memory allocating \d+ bytes after a total of \d+ bytes$"
    r"|virtual memory exhausted: Cannot allocate memory$"
    r"|\S*(?:\bas|\bld[\w.]*|collect2|objcopy)(?:: \S+)*: (?:[\w ]+: )?(?:memory exhausted|"
    r"Cannot allocate memory)"
    r"|(?:\S+: )?catastrophic error\s*: (?:out of memory|cannot allocate)"
    r"|LLVM ERROR: out of memory"
    r"|(?:ptxas|nvlink|fatbinary|nvcc)\s+(?:fatal|error)\s*: (?:Memory allocation failure|"
    r"[Oo]ut of memory)"
    r"|terminate called after throwing an instance of 'std::bad_alloc')",
    re.MULTILINE,
)
"""The words of compilers, assemblers and linkers whose request for memory was refused."""

CRASHED = re.compile(
    r"^.*?(?:internal compiler error\b.*|\bdied due to signal (?:4|6|8|11)\b.*"
    r"|terminated with signal (?:4|6|8|11)\b.*|internal error: .*assertion failed.*)$",
    re.MULTILINE,
)
"""A compiler's words on a crash of its own, or of one of its parts."""

_LIBRARIES = r"(?:class |struct )?(?:cub|cuda|nvcuda|cooperative_groups)\b"
LACKING = re.compile(
    rf"is not a member of [‘']{_LIBRARIES}|in namespace [‘']{_LIBRARIES}[^’'\n]*[’'] does not name"
    rf"|[‘']{_LIBRARIES}::[^’'\n]*[’'] has no member"
)
"""A host compiler's words on a part of CUDA's C++ libraries that the CPU executor does not have."""

_EXCERPT = (
    r"^(?P<head>{}:(?P<line>\d{{1,7}}): .*)"
    r"\n {{2}}(?P<indent> *)(?P<code>\S.*)\n {{2}}(?P<space> *)\^ *$"
)
"""A complaint of nvcc's, the line that it is about, and where in it."""

_TEMPORARY = re.compile(r"tmpxft_[0-9a-f_-]+|\bcc[0-9A-Za-z]{6}\.s\b")


def neutral(log: str, folder: Path) -> str:
    """``log`` without the private directory's name, in one notation, and capped.

    nvcc's ``file(12): error`` becomes ``file:12: error``, which editors follow.
    """
    log = log.replace(f"{folder}/", "")
    return capped(re.sub(r"^([^\s()]+)\((\d+)\)(?=: )", r"\1:\2", log, flags=re.MULTILINE))


def renamed(log: str, copy: str, shown: str) -> str:
    """``log`` with the file name ``copy`` called ``shown``, the name that the user knows."""
    return re.sub(rf"(?<![\w./-]){re.escape(copy)}(?![\w-]|\.\w)", lambda _: shown, log)


def as_typed(log: str, copy: str, source: str) -> str:
    """``log`` with lines of ``source`` as they were typed, where nvcc shows what became of them.

    nvcc's parser comes after the preprocessor: it shows ``__attribute__((global))`` and ``float``
    for ``__global__`` and ``VAR``. ``copy`` is the file's name in the log.
    """
    typed = source.split("\n")

    def shown(match: re.Match[str]) -> str:
        number = int(match["line"])
        if not 0 < number <= len(typed):
            return match[0]
        line = typed[number - 1].strip()
        if not line or match["code"] == line:
            return match[0]
        column = _column(match["code"], line, len(match["space"]) - len(match["indent"]))
        return f"{match['head']}\n  {line}\n  {' ' * column}^"

    return re.sub(_EXCERPT.format(re.escape(copy)), shown, log, flags=re.MULTILINE)


def _column(compiled: str, typed: str, column: int) -> int:
    """Where in ``typed`` stands what stands at ``column`` in ``compiled``."""
    was, now = ([*re.finditer(r"\w+|\s+|[^\w\s]", text)] for text in (compiled, typed))
    same = difflib.SequenceMatcher(None, [m[0] for m in was], [m[0] for m in now], autojunk=False)
    for _, first, end, begin, stop in same.get_opcodes():
        for index in range(first, end):
            if was[index].start() <= column < was[index].end():
                there = min(begin + index - first, max(stop - 1, begin), len(now) - 1)
                return now[there].start()
    return len(typed)


def capped(log: str, limit: int = LOG_BYTES) -> str:
    """The first ``limit`` bytes of ``log``, with a line that says so if there were more."""
    data = log.encode("utf-8", "replace")
    if len(data) <= limit:
        return log
    return data[:limit].decode("utf-8", "ignore") + "\n[the log was cut here]"


def first_error(log: str) -> str:
    """The first complaint in ``log``, and how many more there are. Empty if there is none."""
    errors = [match[1].strip() for match in _ERROR.finditer(log)]
    if not errors:
        return ""
    first = _TEMPORARY.sub("the kernel", errors[0])[:MESSAGE_CHARACTERS]
    more = len(errors) - 1
    return first if not more else f"{first} (and {more} more error{'s' if more > 1 else ''})"
