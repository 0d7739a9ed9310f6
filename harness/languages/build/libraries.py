"""Find the CUDA libraries that a CUDA C++ file uses: headers, shared objects, version.

They are looked for in the toolkit of nvcc, in other toolkits of its major version
(``$CUDA_HOME``, ``/usr/local/cuda*``), and in pip's packages for that version
(``site-packages/nvidia``); cuDNN also among the system's files, CUTLASS in ``$CUTLASS_PATH`` and in
the pip package ``nvidia-cutlass``.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from harness.languages.build.library_table import TABLE, Library
from harness.languages.build.toolchain import USR_LOCAL, Nvcc, newest_first

SYSTEM = Path("/usr")
PIP_MAJOR = "13"
"""The major version of CUDA that the extra ``cuda-libs`` is for."""


_PACKAGES = {"nvJitLink": "nvjitlink", "cublasLt": "cublas"}
"""pip's packages of shared objects with another name."""


class LibraryNotFound(Exception):
    """A library is not installed; the message says how to get it."""

    def __init__(self, name: str, major: str, elsewhere: str = "") -> None:
        super().__init__(f"{name} is not installed here{elsewhere}: {remedy(name, major)}")
        self.elsewhere = elsewhere


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundLibrary:
    """A library of this machine."""

    name: str
    """As :data:`harness.problem.libraries.LIBRARIES` spells it."""
    version: str
    """By its headers; empty if they do not say."""
    includes: tuple[Path, ...]
    """The folders of its headers, and of those that they include."""
    linked: Path | None
    """The shared object to link; None if it has headers alone."""
    loaded: tuple[Path, ...]
    """All shared objects that are loaded with it, by the names that a loader looks for."""
    fingerprint: str
    """Another if a file of it is replaced."""

    @property
    def identity(self) -> str:
        """What a build with it depends on, beside its folders."""
        return f"{self.name} {self.version} {self.fingerprint}"

    @property
    def place(self) -> Path:
        """Where it was found: its shared object, else the folder of its headers."""
        return self.linked or self.includes[0]

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders of its shared objects."""
        return tuple(dict.fromkeys(file.parent for file in self.loaded))


class _Place(NamedTuple):
    """Folders that belong together."""

    includes: tuple[Path, ...]
    libraries: tuple[Path, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Libraries:
    """Where libraries are looked for that fit ``nvcc``."""

    nvcc: Nvcc
    environment: Mapping[str, str]
    site_packages: tuple[Path, ...]
    usr_local: Path = USR_LOCAL
    system: Path = SYSTEM

    def find(self, name: str) -> FoundLibrary:
        """The library called ``name``.

        Raises:
            LibraryNotFound: it is not there, or fits another version of CUDA.
        """
        library = TABLE[name]
        for place in self._places(name):
            header = _first(folder / library.header for folder in place.includes)
            linked = _shared(library.linked, place.libraries)
            if header is None or (library.linked and linked is None):
                continue
            folder = Path(str(header).removesuffix(library.header))
            also = (each for name in library.needs for each in self.find(name).includes)
            headers = [folder / each for each in library.folders or (library.header,)]
            beside = (each for each in place.includes if each.parts[-3:-1] == ("tools", "util"))
            return FoundLibrary(
                name=name,
                version=_version(place.includes, *library.version),
                includes=tuple(dict.fromkeys([folder, *beside, *also])),
                linked=linked,
                loaded=self._loaded(library, place),
                fingerprint=_fingerprint([*headers, linked]),
            )
        raise LibraryNotFound(name, self.nvcc.major, self._elsewhere(name))

    def _loaded(self, library: Library, place: _Place) -> tuple[Path, ...]:
        if not library.linked:
            return ()
        found = [*_all_shared(library.linked, place.libraries)]
        for other in library.loads:
            name = _PACKAGES.get(other, other)
            places = (place, *self._nvidia(name))
            every = (_all_shared(other, each.libraries) for each in places)
            found += next(filter(None, every), [])
        return tuple(found)

    def _places(self, name: str) -> Iterator[_Place]:
        if name == "cutlass":
            if clone := self.environment.get("CUTLASS_PATH"):
                yield _cutlass(Path(clone).absolute())
            yield from (_cutlass(site / "cutlass_library/source") for site in self.site_packages)
        yield from self._nvidia(TABLE[name].package)
        if name == "cudnn":
            yield _toolkit(self.system)

    def _nvidia(self, package: str) -> Iterator[_Place]:
        """Toolkits, then the places of pip's ``nvidia-<package>``."""
        yield from map(_toolkit, self._toolkits())
        major = self.nvcc.major
        for site in self.site_packages:
            yield _toolkit(site / f"nvidia/cu{major}")
            # Packages of different versions share this folder; it is that of the one installed.
            if any(site.glob(f"nvidia_{package}_cu{major}-*.dist-info")):
                yield _toolkit(site / "nvidia" / package)

    def _toolkits(self) -> Iterator[Path]:
        own = self.nvcc.path
        yield from (own.parent.parent, own.resolve().parent.parent)
        others = [self.environment["CUDA_HOME"]] if self.environment.get("CUDA_HOME") else []
        for root in (*map(Path, others), *newest_first(self.usr_local, "cuda*")):
            if _cuda_major(root) == self.nvcc.major:
                yield root.absolute()

    def _elsewhere(self, name: str) -> str:
        """That it is there, for another version of CUDA."""
        library = TABLE[name]
        for site in self.site_packages:
            for folder in ("*", library.package):
                for header in site.glob(f"nvidia/{folder}/include/{library.header}"):
                    return f" for CUDA {self.nvcc.major} (what {header.parents[1]} has is not)"
        return ""


def libraries_for(nvcc: Nvcc, environment: Mapping[str, str] = os.environ) -> Libraries:
    """Where libraries are looked for on this machine."""
    sites = [
        path for path in map(Path, sys.path) if path.name in ("site-packages", "dist-packages")
    ]
    return Libraries(nvcc=nvcc, environment=environment, site_packages=tuple(sites))


def include_folders(nvcc: Nvcc) -> tuple[Path, ...]:
    """The folders in which ``nvcc`` itself looks for headers."""
    roots = (nvcc.path.parent.parent, nvcc.path.resolve().parent.parent)
    return tuple(folder for root in roots for folder in _toolkit(root).includes)


def remedy(name: str, major: str) -> str:
    """The command that installs a library for this major version of CUDA."""
    if name == "cutlass":
        return "pip install 'kernel-harness[cutlass]'"
    if major == PIP_MAJOR:
        return "pip install 'kernel-harness[cuda-libs]'"
    return f"pip install nvidia-{TABLE[name].package}-cu{major}"


def _toolkit(root: Path) -> _Place:
    """The folders of a toolkit: NVIDIA's, conda's, pip's, or that of a distribution in ``/usr``."""
    inner = sorted((*root.glob("targets/*"), *root.glob("*/*-linux-gnu")))
    includes = (root / "include", *(each / "include" for each in inner), *inner)
    return _Place(
        includes, (root / "lib64", root / "lib", *(each / "lib" for each in inner), *inner)
    )


def _cutlass(root: Path) -> _Place:
    return _Place((root / "include", root / "tools/util/include"), ())


def _first(paths: Iterable[Path]) -> Path | None:
    return next((path for path in paths if path.is_file()), None)


def _shared(stem: str, folders: Iterable[Path]) -> Path | None:
    """``lib<stem>.so``, else the shortest ``lib<stem>.so.*``, which pip's packages have alone."""
    for folder in folders if stem else ():
        names = sorted(folder.glob(f"lib{stem}.so*"), key=lambda path: (len(path.name), path.name))
        if found := _first(names):
            return found
    return None


def _all_shared(stem: str, folders: Iterable[Path]) -> list[Path]:
    """Every name of the shared object and of its parts (``libcudnn_ops.so.9``), in one folder."""
    for folder in folders:
        if _shared(stem, [folder]):
            return sorted({*folder.glob(f"lib{stem}.so*"), *folder.glob(f"lib{stem}_*.so*")})
    return []


def _version(includes: Iterable[Path], header: str, prefix: str) -> str:
    path = _first(folder / header for folder in includes)
    if path is None:
        return ""
    pattern = rf"^#\s*define\s+{prefix}(?:MAJOR|MINOR|PATCH|PATCHLEVEL|VERSION)\s+\(?(\d+)"
    text = path.read_text(encoding="utf-8", errors="replace")
    return ".".join(re.findall(pattern, text, re.MULTILINE))


def _cuda_major(root: Path) -> str:
    place = _toolkit(root)
    number = _version(place.includes, "cuda.h", "CUDA_") or "0"
    return str(int(number) // 1000)


def _fingerprint(parts: Iterable[Path | None]) -> str:
    """A hash of names, sizes and times of the files at and below ``parts``."""
    digest = sha256()
    for part in filter(None, parts):
        for path in sorted(part.rglob("*")) if part.is_dir() else [part]:
            with suppress(OSError):  # CUTLASS before its third version has no folder cute
                status = path.stat()
                digest.update(f"{path} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]
