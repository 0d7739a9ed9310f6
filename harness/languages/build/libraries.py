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

from harness.languages.build.toolchain import USR_LOCAL, Nvcc, newest_first

SYSTEM = Path("/usr")
PIP_MAJOR = "13"
"""The major version of CUDA that the extra ``cuda-libs`` is for."""


class _Library(NamedTuple):
    header: str
    """The header that it is found by."""
    version: tuple[str, str]
    """The header that defines its version, and the prefix of the macros there."""
    package: str
    """pip's packages are ``nvidia-<package>``, or ``nvidia-<package>-cu<major>``."""
    linked: str = ""
    """The shared object that is linked, ``lib<linked>.so``; empty if it has headers alone."""
    loads: tuple[str, ...] = ()
    """Other shared objects that this one loads."""
    needs: tuple[str, ...] = ()
    """Libraries whose headers its own include."""
    includes: str = ""
    """Pattern of the headers that belong to it."""
    folders: tuple[str, ...] = ()
    """The folders that its headers are in, where it has some of its own."""


_TABLE = {
    "cublas": _Library(
        header="cublas_v2.h",
        version=("cublas_api.h", "CUBLAS_VER_"),
        package="cublas",
        linked="cublas",
        loads=("cublasLt",),
        includes=r"cublas(_v2|_api|Xt)?\.h",
    ),
    "cublasLt": _Library(
        header="cublasLt.h",
        version=("cublas_api.h", "CUBLAS_VER_"),
        package="cublas",
        linked="cublasLt",
        includes=r"cublasLt\.h",
    ),
    "cufft": _Library(
        header="cufft.h",
        version=("cufft.h", "CUFFT_VER_"),
        package="cufft",
        linked="cufft",
        loads=("nvJitLink",),
        includes=r"cufft\w*\.h",
    ),
    "curand": _Library(
        header="curand.h",
        version=("curand.h", "CURAND_VER_"),
        package="curand",
        linked="curand",
        includes=r"curand\w*\.h",
    ),
    "cusolver": _Library(
        header="cusolverDn.h",
        version=("cusolver_common.h", "CUSOLVER_VER_"),
        package="cusolver",
        linked="cusolver",
        loads=("cublas", "cublasLt", "cusparse", "nvJitLink"),
        needs=("cublas", "cusparse"),
        includes=r"cusolver\w*\.h",
    ),
    "cusparse": _Library(
        header="cusparse.h",
        version=("cusparse.h", "CUSPARSE_VER_"),
        package="cusparse",
        linked="cusparse",
        loads=("nvJitLink",),
        includes=r"cusparse\w*\.h",
    ),
    "cudnn": _Library(
        header="cudnn.h",
        version=("cudnn_version.h", "CUDNN_"),
        package="cudnn",
        linked="cudnn",
        loads=("cublas", "cublasLt"),
        includes=r"cudnn\w*\.h",
    ),
    "cutlass": _Library(
        header="cutlass/cutlass.h",
        version=("cutlass/version.h", "CUTLASS_"),
        package="cutlass",
        includes=r"(cutlass|cute)/.+",
        folders=("cutlass", "cute"),
    ),
    "nvtx": _Library(
        header="nvtx3/nvToolsExt.h",
        version=("nvtx3/nvToolsExt.h", "NVTX_"),
        package="nvtx",
        includes=r"nvtx3/.+|nvToolsExt\w*\.h",
        folders=("nvtx3",),
    ),
}
_PACKAGES = {"nvJitLink": "nvjitlink", "cublasLt": "cublas"}
"""pip's packages of shared objects with another name."""

EXECUTABLE = frozenset({"nvtx"})
"""Those of which the CPU executor has what programs use (``harness/cudacpu/include``)."""

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]+)[>\"]", re.MULTILINE)


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
        library = _TABLE[name]
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

    def _loaded(self, library: _Library, place: _Place) -> tuple[Path, ...]:
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
        yield from self._nvidia(_TABLE[name].package)
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
        library = _TABLE[name]
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
    return f"pip install nvidia-{_TABLE[name].package}-cu{major}"


def owner(header: str) -> str | None:
    """The library that a header belongs to, by its name as included; None for others."""
    return next((n for n, each in _TABLE.items() if re.fullmatch(each.includes, header)), None)


def forbidden_owner(path: str, allowed: Iterable[str]) -> str | None:
    """The library that the header at ``path`` is of, if none that includes it is ``allowed``.

    NVTX is not asked about: CUB includes it by itself.
    """
    name = owner(re.sub(r".*/include/(?:[^/]*-linux-gnu/)?", "", path))
    fine = {"nvtx", *allowed, *(each for one in allowed for each in _TABLE[one].needs)}
    return None if name in fine else name


def included(text: str) -> dict[str, str]:
    """The libraries whose headers ``text`` includes, each with the first such header."""
    found: dict[str, str] = {}
    for match in _INCLUDE.finditer(text):
        if name := owner(match[1]):
            found.setdefault(name, match[1])
    return found


def undeclared(text: str, uses: Iterable[str], complaints: str) -> str:
    """The hint for a build that failed for want of a line ``uses``; empty if it did not.

    ``complaints`` name a header of a library that ``text`` does not say it uses, or its functions.
    """
    declared = frozenset(uses)
    headers = {n: h for n, h in included(text).items() if n not in declared and h in complaints}
    missing = re.findall(r"undefined reference to `(\w+)'", complaints)
    for name in _TABLE.keys() - declared - headers.keys():
        if any(_symbol_of(name, symbol) for symbol in missing):
            headers[name] = ""
    if not headers:
        return ""
    names = ", ".join(name for name in _TABLE if name in {*headers, *declared})
    what = ", ".join(name for name in _TABLE if name in headers)
    return f"{what} must be asked for: add the line // uses: {names}"


def _symbol_of(name: str, symbol: str) -> bool:
    if name == "cublas" and symbol.startswith("cublasLt"):
        return False
    return bool(_TABLE[name].linked) and symbol.startswith(name)


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
