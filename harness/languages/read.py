"""Read a submitted file: what it is, from its bytes and its place. It is looked at, never run.

A file may lie anywhere; in ``solutions/<problem>/<author>/<name>.cu`` (or ``.py``) its place names
the problem and the author, in ``problems/<problem>/…`` the problem. One of its first
:data:`HEADER_LINES` lines may say which data types it is written for::

    // dtypes: float32, float16        (in a .cu file)
    # dtypes: float32                  (in a .py file)

A ``.txt`` or ``.md`` file is a language model's output; the submission is the code in it
(:mod:`harness.solution.generation`).
"""

import errno
import hashlib
import os
import re
import stat
from pathlib import Path

from harness.languages import LANGUAGES
from harness.problem.dtypes import DTYPES
from harness.records.refs import Generation, SolutionRef
from harness.solution.generation import SUFFIXES, NoCode, extract
from harness.solution.model import Invalid, Solution
from harness.text.escape import quoted
from harness.text.suggest import did_you_mean, nearest

MAX_BYTES = 1 << 20
HEADER_LINES = 20
ANONYMOUS = "anonymous"

_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_SAFE_IN_WORDS = "letters, digits and . _ + -, at most 64, the first a letter or digit"
_HEADER = re.compile(r"^\s*(?://|#)\s*dtypes?\s*[:=]\s*(.*?)\s*$")
_KINDS = {
    stat.S_ISDIR: "a directory; name the file in it",
    stat.S_ISFIFO: "a pipe",
    stat.S_ISSOCK: "a socket",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
}


class _FileError(Exception):
    """Carries the reason to :func:`read_solution`, the only one to catch it."""


def read_solution(
    path: Path, *, problem: str | None = None, author: str | None = None
) -> Solution | Invalid:
    """The submission in ``path``, or why it cannot be one.

    ``problem`` and ``author`` go before what the path says. An author neither given nor in the
    path is the model of a generation, else ``anonymous``.
    """
    try:
        return _parse(_bytes(path, _shown(path)), path, problem, author)
    except _FileError as refused:
        return Invalid(str(refused))


def parse_solution(submitted: bytes, path: Path) -> Solution | Invalid:
    """As :func:`read_solution`, of a file with these bytes; nothing is opened at ``path``."""
    try:
        return _parse(submitted, path, None, None)
    except _FileError as refused:
        return Invalid(str(refused))


def _parse(
    submitted: bytes, path: Path, problem: str | None, author: str | None
) -> Solution | Invalid:
    shown = _shown(path)
    text = _text(submitted, shown)
    extracted = extract(text) if path.suffix in SUFFIXES else None
    generation = extracted.generation if extracted else None
    place_problem, place_author = _place(path)
    problem = problem or place_problem
    author = author or place_author or _model_name(generation) or ANONYMOUS
    for what, value, remedy in (
        ("file name", path.stem, "rename it"),
        ("author", author, "give another with --author"),
        ("problem", problem, "give it with --problem"),
    ):
        if value is not None and not _SAFE.fullmatch(value):
            raise _FileError(
                f"{shown}: the {what} {quoted(value)} cannot be recorded; {remedy} "
                f"({_SAFE_IN_WORDS})"
            )
    if generation is not None and problem is None:
        problem = generation.problem or None
    digest = hashlib.sha256(submitted).hexdigest()
    if isinstance(extracted, NoCode):
        about = SolutionRef(
            author=author,
            name=path.stem,
            language="",
            hash=digest,
            path=shown,
            generation=generation,
        )
        message = f"{shown}: {extracted.message}"
        return Invalid(message, extracted.reason, about, problem, submitted)
    source, code, above = submitted, path, 0
    if extracted is not None:
        # Empty lines in front, so that compilers name the lines of the file itself.
        code, above = path.with_suffix(extracted.suffix), extracted.generation.line - 1
        text = "\n" * above + extracted.text
        source = text.encode()
    return Solution(
        path=path,
        display_path=shown,
        submitted=submitted,
        source=source,
        text=text,
        author=author,
        name=path.stem,
        problem=problem,
        language=_language(code, text, shown),
        hash=digest,
        dtypes=_dtypes(text, shown, above),
        generation=generation,
    )


def _model_name(generation: Generation | None) -> str:
    """The model as an author: ``vendor/some model`` becomes ``vendor-some-model``."""
    model = generation.model if generation else ""
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", model).strip("-._+")[:64]


def _shown(path: Path) -> str:
    """The path in one harmless line.

    Bytes that are no UTF-8 (surrogates here) cannot be printed, control and direction characters
    would change what a reader sees.
    """
    shown = str(path)
    if not shown.isprintable():
        raise _FileError(
            f"{quoted(shown)}: the path has characters that cannot be shown; rename it"
        )
    return shown


def _bytes(path: Path, shown: str) -> bytes:
    """The file's contents. Only a plain file is ever opened."""
    try:
        _require_plain(os.lstat(path).st_mode, shown)
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags), "rb") as file:
            _require_plain(os.fstat(file.fileno()).st_mode, shown)
            source = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise _FileError(f"{shown}: no such file{_similar(path)}") from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _FileError(f"{shown}: is a symbolic link; submit the file itself") from None
        raise _FileError(f"{shown}: cannot be read: {error.strerror}") from None
    if len(source) > MAX_BYTES:
        raise _FileError(f"{shown}: is larger than {MAX_BYTES >> 20} MiB")
    if not source.strip():
        raise _FileError(f"{shown}: is empty")
    return source


def _require_plain(mode: int, shown: str) -> None:
    if stat.S_ISLNK(mode):
        raise _FileError(f"{shown}: is a symbolic link; submit the file itself")
    for is_kind, words in _KINDS.items():
        if is_kind(mode):
            raise _FileError(f"{shown}: is {words}")


def _similar(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir() if entry.suffix in _suffixes()]
    except OSError:
        return ""
    close = nearest(path.name, filter(str.isprintable, names))
    return f" (did you mean {path.parent / close}?)" if close else ""


def _suffixes() -> list[str]:
    return sorted({language.suffix for language in LANGUAGES.values()} | set(SUFFIXES))


def _text(source: bytes, shown: str) -> str:
    if source.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _FileError(f"{shown}: is UTF-16; save it as UTF-8")
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        raise _FileError(
            f"{shown}:{line}: byte 0x{source[error.start]:02x} is not UTF-8; save it as UTF-8"
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise _FileError(f"{shown}:{line}: holds a NUL byte; is it a source file?")
    return text


def _place(path: Path) -> tuple[str | None, str | None]:
    """Problem and author as far as the path says them."""
    # Not resolved: where the links of a path lead is not what the user wrote.
    parts = Path(os.path.abspath(path)).parts  # noqa: PTH100
    if len(parts) >= 4 and parts[-4] == "solutions":
        return parts[-3], parts[-2]
    if "problems" in parts[:-2]:
        at = len(parts) - 1 - parts[::-1].index("problems")
        if at + 2 < len(parts):
            return parts[at + 1], None
    return None, None


def _language(path: Path, text: str, shown: str) -> str:
    for language in LANGUAGES.values():
        if language.claims(path, text):
            return language.name
    raise _FileError(
        f"{shown}: unknown extension {quoted(path.suffix)}; a submission is one of "
        + ", ".join(_suffixes())
    )


def _dtypes(text: str, shown: str, above: int) -> tuple[str, ...] | None:
    """The types named in the header comment, or none if there is no such comment.

    ``above`` lines in front are no part of the code.
    """
    lines = text.split("\n", above + HEADER_LINES)[above : above + HEADER_LINES]
    for number, line in enumerate(lines, start=above + 1):
        match = _HEADER.match(line)
        if match is None:
            continue
        names = tuple(dict.fromkeys(name for name in re.split(r"[\s,]+", match[1]) if name))
        if not names:
            raise _FileError(f"{shown}:{number}: dtypes: names no type")
        for name in names:
            if name not in DTYPES:
                hint = did_you_mean(name, DTYPES) or f" (one of {', '.join(DTYPES)})"
                raise _FileError(f"{shown}:{number}: dtypes: unknown type {quoted(name)}{hint}")
        return names
    return None
