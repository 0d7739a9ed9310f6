"""The Protocol of a problem format, and what is known of a problem of one before its code has run.

A format reads: names and lines of text. It never parses Python in the judge, whose parser hostile
text can crash, and it imports nothing.
"""

import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from harness.errors import UsageError
from harness.text.names import LONGEST
from harness.text.plain import plain

MAX_BYTES = 4 << 20
"""Of one file of a problem."""

VERSION = "4"
"""Counts changes to what a result of a foreign problem means."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """One file that a problem is made of, as it was read."""

    name: str
    """Its path inside the folder in which the problem's process puts it."""
    text: bytes
    """What it holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A problem as reading alone shows it."""

    format: str
    """The format's name."""
    path: Path
    """The problem's file, as the user named it."""
    slug: str
    """Its name in paths, commands and results: begins with the format's."""
    title: str
    """Its name for people, one line."""
    entry: str
    """What a submission has to define: ``ModelNew``, or the names of several functions."""
    files: tuple[SourceFile, ...]
    """All that its code is made of; the one at ``path`` first."""
    lack: str = ""
    """Why it cannot be graded, where reading alone shows that."""
    code: Path | None = None
    """The file that mistakes have lines of; ``path`` if None."""
    tests_s: float = 0.0
    """Seconds that the problem says its tests may take; 0 if it does not."""

    @property
    def hash(self) -> str:
        """SHA-256 (hex) of format, its version here, and all files."""
        digest = sha256(f"{self.format}|{VERSION}|own tolerance".encode())
        for each in self.files:
            digest.update(f"|{each.name}|{len(each.text)}|".encode("utf-8", "surrogateescape"))
            digest.update(each.text)
        return digest.hexdigest()


class Format(Protocol):
    """One format of others."""

    name: str
    """``kernelbench``; slugs and results have it."""

    def detect(self, path: Path) -> Path | None:
        """The problem's own file, if ``path``, a file or a folder, is one problem of this format.

        What cannot be read is none.
        """

    def load(self, path: Path) -> Source:
        """The problem in a file that :meth:`detect` gave; a ``UsageError`` if it cannot be read."""


def text_of(path: Path) -> str:
    """The text of a file for detecting; empty for what is none, is too large, or cannot be read."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return ""
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


def source_file(path: Path, name: str) -> SourceFile:
    """A file of a problem, read.

    Raises:
        UsageError: it cannot be read, or is too large.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UsageError(f"{plain(str(path))}: larger than {MAX_BYTES >> 20} MiB")
        return SourceFile(name=name, text=path.read_bytes())
    except OSError as error:
        raise UsageError(f"{plain(str(path))}: cannot be read ({error.strerror})") from error


def defines(text: str, *names: str) -> bool:
    """Whether lines of the file define all of these functions or classes at its top level."""
    found = set(re.findall(r"^(?:class|def)[ \t]+(\w+)", text, re.MULTILINE))
    return found.issuperset(names)


def slug_of(format_name: str, *parts: str) -> str:
    """A name for commands and boards, made of the words of ``parts``."""
    words = re.findall(r"[a-z0-9]+", " ".join(parts).lower())
    whole = "-".join((format_name, *words))
    return shortened(whole)


def shortened(name: str, end: str = "") -> str:
    """A name with ``end``; with a mark of what was cut off before that, if it is too long."""
    if len(name + end) <= LONGEST:
        return name + end
    mark = sha256(name.encode()).hexdigest()[:6]
    return f"{name[: LONGEST - len(mark) - 1 - len(end)].rstrip('-')}-{mark}{end}"


def title_of(text: str) -> str:
    """A name for people of a file's: ``12_Gemm_Multiply_`` → ``12 Gemm Multiply``."""
    words = " ".join(re.findall(r"[^\W_]+", text))
    return plain(words, 120) or "untitled"
