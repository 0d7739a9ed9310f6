"""The contents of a submitted file as text: what no submission can be is refused by reading alone.

Nothing heavy is imported here, so that a file named by mistake is refused at once.
"""

import errno
import os
import stat
from pathlib import Path

from harness.solution.generation.record import CODE, OUTPUT
from harness.solution.suffixes import KNOWN, RECORDS
from harness.text.plain import quoted
from harness.text.suggest import nearest

MAX_BYTES = 1 << 20

_KINDS = {
    stat.S_ISLNK: "is a symbolic link; submit the file itself",
    stat.S_ISDIR: "is a directory; name the file in it",
    stat.S_ISFIFO: "is a pipe; write it to a file, or to standard input, which is named -",
    stat.S_ISSOCK: "is a socket",
    stat.S_ISCHR: "is a device",
    stat.S_ISBLK: "is a device",
}
_UNPACK = "unpack it and submit the folder"
_MAGIC = {
    **dict.fromkeys((b"\xff\xfe", b"\xfe\xff"), "is UTF-16; save it as UTF-8"),
    b"PK\x03\x04": f"is a zip archive; {_UNPACK}",
    b"7z\xbc\xaf": f"is a 7z archive; {_UNPACK}",
    b"Rar!": f"is a rar archive; {_UNPACK}",
    **dict.fromkeys(
        (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd"),
        "is compressed; unpack it and submit what is in it",
    ),
    b"\x7fELF": "is a compiled program; submit its source",
    b"%PDF": "is a PDF; submit the code itself as text",
}
"""What files begin with that are no source, and what to do."""
_STDIN = ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
_TAR = 257, b"ustar"
"""What a tar archive has, and where."""
_REMEDIES = {
    **dict.fromkeys(
        (".cpp", ".cc", ".cxx", ".c", ".cuh", ".h", ".hpp"), "if it is CUDA C++, rename it to .cu"
    ),
    ".ipynb": "save the code of a notebook as .py",
    **dict.fromkeys((".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".zst", ".7z", ".rar"), _UNPACK),
    **dict.fromkeys((".so", ".o", ".a", ".cubin", ".fatbin", ".dll", ".exe"), "submit its source"),
    **dict.fromkeys((".pdf", ".docx"), "submit the code itself as text"),
    **dict.fromkeys(
        RECORDS,
        f"its records have no code (under {', '.join(CODE[:4])}, {OUTPUT[0]}, …): name the key so, "
        "or write the output of each sample to a .txt file",
    ),
    "": "add the extension of its language",
}
"""What to do with files that may hold a submission, by extension."""


class FileError(Exception):
    """The reason why a file is no submission, after the line that it is about, if any."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(f"{line}: {reason}" if line else f" {reason}")


def refusal(path: Path) -> str | None:
    """Why there is no submission in a file that has another extension; None for any other file."""
    if path.suffix in KNOWN or not os.path.lexists(path):
        return None
    if not str(path).isprintable():
        return unprintable(path)
    try:
        as_text(read_bytes(path))
    except FileError as error:
        return f"{path}:{error}"
    return f"{path}:{unknown(path)}"


def unprintable(path: Path) -> str:
    """What is said of a path that cannot be shown.

    Bytes that are no UTF-8 (surrogates here) cannot be printed, control and direction characters
    would change what a reader sees.
    """
    return f"{quoted(str(path))}: the path has characters that cannot be shown; rename it"


def unknown(path: Path) -> FileError:
    """What is said of an extension that no submission has."""
    suffix = path.suffix.lower()
    remedy = f"rename it to {suffix}" if suffix in KNOWN else _REMEDIES.get(suffix)
    known = f"a submission is one of {', '.join(KNOWN)}"
    what = f"unknown extension {quoted(path.suffix)}"
    return FileError("; ".join(filter(None, (what, remedy, known))))


def read_bytes(path: Path) -> bytes:
    """The file's contents. Only a plain file is ever opened.

    Raises:
        FileError: there is none, it cannot be read, or its contents are not :func:`within_limits`.
        OSError: the machine has no descriptors or memory left.
    """
    if str(path) in _STDIN:
        raise FileError("is standard input; name it -")
    try:
        _require_plain(os.lstat(path).st_mode)
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags), "rb") as file:
            _require_plain(os.fstat(file.fileno()).st_mode)
            source = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise FileError(f"no such file{_similar(path)}") from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise FileError(_KINDS[stat.S_ISLNK]) from None
        if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
            raise  # nothing that the file could do about
        raise FileError(f"cannot be read: {error.strerror}") from None
    return within_limits(source)


def within_limits(source: bytes) -> bytes:
    """``source``, if it is as long as a submission may be.

    Raises:
        FileError: it is larger than :data:`MAX_BYTES`, or empty.
    """
    if len(source) > MAX_BYTES:
        raise FileError(f"is larger than {MAX_BYTES >> 20} MiB")
    if not source.strip():
        raise FileError("is empty")
    return source


def _require_plain(mode: int) -> None:
    for is_kind, words in _KINDS.items():
        if is_kind(mode):
            raise FileError(words)


def _similar(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir() if entry.suffix in KNOWN]
    except OSError:
        return ""
    close = nearest(path.name, filter(str.isprintable, names))
    return f" (did you mean {path.parent / close}?)" if close else ""


def as_text(source: bytes) -> str:
    """``source`` as text, without a byte order mark.

    Raises:
        FileError: it is no text in UTF-8; the reason says what it is, and what to do.
    """
    for start, words in _MAGIC.items():
        if source.startswith(start):
            raise FileError(words)
    place, mark = _TAR
    if source.startswith(mark, place):
        raise FileError(f"is a tar archive; {_UNPACK}")
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        reason = f"byte 0x{source[error.start]:02x} is not UTF-8; save it as UTF-8"
        raise FileError(reason, line) from None
    before, nul, _ = text.partition("\0")
    if nul:
        raise FileError("holds a NUL byte; is it a source file?", before.count("\n") + 1)
    return text
