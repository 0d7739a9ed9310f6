"""The formats that are known, and which of them a path is a problem of."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from harness.errors import UsageError
from harness.formats.base import Format, Source
from harness.formats.flashinfer import FlashInfer
from harness.formats.gpumode import GpuMode
from harness.formats.kernelbench import KernelBench
from harness.formats.leetgpu import LeetGpu
from harness.formats.tensara import Tensara
from harness.text.plain import plain

FORMATS: Mapping[str, Format] = {
    each.name: each for each in (KernelBench(), LeetGpu(), Tensara(), GpuMode(), FlashInfer())
}
"""By name; the first that knows a path has it."""

MOST_FILES = 100_000
"""That a folder is searched for problems."""


def looks_like_path(name: str) -> bool:
    """Whether what names a problem is a path, not a slug."""
    return os.sep in name or name.endswith((".py", ".yml", ".json"))


def is_problem(path: Path) -> bool:
    """Whether a path is one problem of a known format."""
    return any(each.detect(path) is not None for each in FORMATS.values())


def read_problem(path: Path) -> Source:
    """The problem at ``path``, a file or a folder.

    Raises:
        UsageError: there is nothing, or nothing of a known format.
    """
    if not os.path.lexists(path):
        raise UsageError(f"{plain(str(path))}: no such file or folder")
    for each in FORMATS.values():
        if (found := each.detect(path)) is not None:
            return each.load(found)
    raise UsageError(
        f"{plain(str(path))}: no problem of a known format ({', '.join(FORMATS)}); "
        "harness formats list FOLDER shows what is in one"
    )


def problems_in(path: Path) -> Iterator[Source]:
    """The problems at and below ``path``, in the order of their paths.

    Raises:
        UsageError: there is no such path, or a problem's file cannot be read.
    """
    if not os.path.lexists(path):
        raise UsageError(f"{plain(str(path))}: no such file or folder")
    seen = set[Path]()
    for each in _below(path):
        for known in FORMATS.values():
            found = known.detect(each)
            if found is not None and found not in seen:
                seen.add(found)
                yield known.load(found)
                break


def _below(path: Path) -> Iterator[Path]:
    """``path``, if it is a file, else all files below; links and hidden folders are not followed.

    Raises:
        UsageError: there are too many.
    """
    if not path.is_dir():
        yield path
        return
    count = 0
    for folder, folders, files in os.walk(path):
        shown = (name for name in folders if not name.startswith("."))
        folders[:] = sorted(shown, key=_natural)
        for name in sorted(files, key=_natural):
            count += 1
            if count > MOST_FILES:
                raise UsageError(f"{plain(str(path))}: more than {MOST_FILES:,} files")
            yield Path(folder, name)


def _natural(name: str) -> tuple[int, str]:
    """Files in the order of the numbers that they begin with."""
    digits = name[: len(name) - len(name.lstrip("0123456789"))][:9]
    return (int(digits or 0), name)
