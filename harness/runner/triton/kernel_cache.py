"""Packs the kernels that Triton has compiled for a submission, for another process.

Both processes run the same submission, so neither gains anything that it could not do itself. The
judge, which carries the package, does not look into it.
"""

import io
import os
import tarfile
from pathlib import Path

_LENGTH = 8
_LISTS = "__grp__"
_ELSEWHERE = b"${TRITON_CACHE_DIR}"
"""Stands for the folder in Triton's own lists, which name files by their whole path."""


def pack(folder: Path, fd: int) -> None:
    """Write all files of a cache, if they fit, to a descriptor of fixed size, the length first."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for file in sorted(folder.rglob("*")):
            if not file.is_file() or file.is_symlink():
                continue
            data = file.read_bytes()
            if file.name.startswith(_LISTS):
                data = data.replace(bytes(folder), _ELSEWHERE)
            entry = tarfile.TarInfo(str(file.relative_to(folder)))
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    whole = packed.getvalue()
    if len(whole) + _LENGTH > os.fstat(fd).st_size:
        return
    os.pwrite(fd, whole, _LENGTH)
    os.pwrite(fd, len(whole).to_bytes(_LENGTH, "little"), 0)


def packed(fd: int) -> bytes:
    """The package, on the judge's side: the bytes after the length, as many as there are."""
    length = int.from_bytes(os.pread(fd, _LENGTH, 0), "little")
    return os.pread(fd, min(length, os.fstat(fd).st_size - _LENGTH), _LENGTH)


def unpack(fd: int, folder: Path) -> None:
    """Put what was packed, as far as it can be read, into another cache; closes the descriptor."""
    folder.mkdir(parents=True, exist_ok=True)
    with os.fdopen(fd, "rb") as file:
        try:
            with tarfile.open(fileobj=file, mode="r:") as archive:
                if hasattr(tarfile, "data_filter"):  # Python before 3.11.4 has none
                    archive.extraction_filter = tarfile.data_filter
                archive.extractall(folder)  # noqa: S202 - the submission unpacks its own
        except tarfile.TarError:
            return
    for listed in folder.rglob(f"{_LISTS}*"):
        listed.write_bytes(listed.read_bytes().replace(_ELSEWHERE, bytes(folder)))
