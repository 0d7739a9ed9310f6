"""Which version of KernelBench the text of a problem is of.

Versions share the names of their files, so results and records tell them apart by what is in them:
``kernelbench_versions.txt`` has the fingerprints of all problems of the versions that people
publish for, the newest first, each fingerprint where it is first met.
"""

from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

_TABLE = Path(__file__).with_name("kernelbench_versions.txt")
_DIGITS = 10


class Version(NamedTuple):
    """A version of the problems."""

    commit: str
    """The commit that has it."""
    name: str
    """What it is called: ``v0``, or ``v0`` with a date."""

    @property
    def named(self) -> str:
        """Both, for people."""
        return f"{self.name} ({self.commit})"

    @property
    def is_first(self) -> bool:
        """Whether it is of v0, whose sizes and tolerance are others than those of v0.1."""
        return self.name.startswith("v0") and not self.name.startswith("v0.")


def fingerprint(text: bytes) -> str:
    """The first hex digits of SHA-256 of a text, whatever blanks end its lines and itself."""
    lines = (line.rstrip() for line in text.strip().splitlines())
    return sha256(b"\n".join(lines)).hexdigest()[:_DIGITS]


def version_of(mark: str) -> Version | None:
    """The newest version that has a problem with this fingerprint; None if it is not known."""
    return _versions().get(mark)


def of_first(text: bytes) -> bool:
    """Whether a problem's text is one of v0's."""
    version = version_of(fingerprint(text))
    return version is not None and version.is_first


@lru_cache(maxsize=1)
def _versions() -> Mapping[str, Version]:
    found: dict[str, Version] = {}
    version = Version("", "")
    for line in _TABLE.read_text(encoding="ascii").splitlines():
        words = line.split()
        if line.startswith("#") or not words:
            continue
        if line.startswith("version "):
            version = Version(words[1], " ".join(words[2:]))
            continue
        for mark in words:
            found.setdefault(mark, version)
    return found
