"""Extensions of PyTorch that a submission asks for, as text, with the keys of what is built.

The submission's process writes each request, a line of JSON, to memory that the judge has made. It
may write anything there: what is read decides only what is compiled.
"""

import hashlib
import json
import os
import re
from dataclasses import dataclass, replace

from harness.wire.validation import WireError, WireRecord

ROOM = 4 << 20
"""Bytes of the memory in which requests are written."""
MAX_EXTENSIONS = 16
NEUTRAL_NAME = "extension"
"""Stands for a name that no source mentions, so that one made at run time changes nothing."""

CPP_SUFFIXES = (".cpp", ".cc", ".cxx", ".c", ".C")
CUDA_SUFFIXES = (".cu", ".cuh")

_NAME = re.compile(r"[A-Za-z_]\w{0,99}", re.ASCII)
_FILE = re.compile(r"\w[\w.-]{0,99}", re.ASCII)
_MAX_SOURCES, _MAX_FLAGS, _FLAG_CHARACTERS = 32, 200, 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile(WireRecord):
    """One source of an extension."""

    name: str
    """The file's name, without a folder."""
    text: str
    """What it holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionRequest(WireRecord):
    """One call of `load_inline` or `load`: all that decides what is built."""

    name: str
    """The extension's name, an identifier."""
    sources: tuple[SourceFile, ...]
    """The files to compile, with the implicit headers and bindings of `load_inline`."""
    cflags: tuple[str, ...] = ()
    """Options of the C++ compiler."""
    cuda_cflags: tuple[str, ...] = ()
    """Options of nvcc."""
    ldflags: tuple[str, ...] = ()
    """Options of the linker."""
    include_paths: tuple[str, ...] = ()
    """Further folders with headers."""
    with_cuda: bool = False
    """Whether CUDA's headers and libraries are wanted."""
    python_module: bool = True
    """Whether it is a Python module, and not a library of operators."""

    @property
    def cuda(self) -> bool:
        """Whether it needs CUDA, by what it says or by its files."""
        return self.with_cuda or any(map(is_cuda, self.sources))

    @property
    def built_name(self) -> str:
        """The name that it is built under: its own only if that shows in the sources."""
        word = re.compile(rf"\b{re.escape(self.name)}\b")
        shown = (*(source.text for source in self.sources), *self.cflags, *self.cuda_cflags)
        named = any("TORCH_LIBRARY" in text or word.search(text) for text in shown)
        return self.name if named or not self.python_module else NEUTRAL_NAME

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of all that decides what is built."""
        text = json.dumps(
            replace(self, name=self.built_name), default=WireRecord.to_json, sort_keys=True
        )
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def fault(self) -> str:
        """Why nothing can be built from it; empty if there is no reason that shows here."""
        if not _NAME.fullmatch(self.name):
            return f"the name {self.name[:60]!a} is no identifier"
        names = [source.name for source in self.sources]
        if not names:
            return "there are no sources"
        for name in names:
            if not _FILE.fullmatch(name) or not name.endswith((*CPP_SUFFIXES, *CUDA_SUFFIXES)):
                return f"{name[:60]!a} is no name of a C++ or CUDA source"
        if len(set(names)) < len(names) or len(names) > _MAX_SOURCES:
            return f"the sources have the same name, or are more than {_MAX_SOURCES}"
        for flags in (self.cflags, self.cuda_cflags, self.ldflags, self.include_paths):
            if len(flags) > _MAX_FLAGS or any(len(flag) > _FLAG_CHARACTERS for flag in flags):
                return f"there are more than {_MAX_FLAGS} options, or one is too long"
        return ""


def is_cuda(source: SourceFile) -> bool:
    """Whether nvcc compiles this source."""
    return source.name.endswith(CUDA_SUFFIXES)


def write_request(fd: int, place: int, request: ExtensionRequest) -> int:
    """Write a request at ``place``; returns the place after it.

    Raises:
        ValueError: it does not fit.
    """
    line = json.dumps(request, default=WireRecord.to_json).encode() + b"\n"
    if place + len(line) >= ROOM:
        raise ValueError(f"the sources of all extensions take more than {ROOM >> 20} MiB")
    os.pwrite(fd, line, place)
    return place + len(line)


def read_requests(fd: int) -> tuple[ExtensionRequest, ...]:
    """The requests written to ``fd``, each once; from what is none, or a faulty one, on none.

    At most :data:`MAX_EXTENSIONS` of them; untrusted.
    """
    found: dict[str, ExtensionRequest] = {}
    written, _, _ = os.pread(fd, ROOM, 0).partition(b"\0")
    for line in written.split(b"\n", 4 * MAX_EXTENSIONS)[: 4 * MAX_EXTENSIONS]:
        try:
            request = ExtensionRequest.from_json(json.loads(line), "extension")
        except (ValueError, RecursionError, WireError):
            break
        if request.fault():  # none that the stand-in would have written
            break
        found.setdefault(request.digest, request)
        if len(found) == MAX_EXTENSIONS:
            break
    return tuple(found.values())
