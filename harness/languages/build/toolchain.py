"""Find the compilers of this machine, and their versions.

The CUDA compiler is looked for in ``$HARNESS_NVCC``, ``$CUDA_HOME/bin``, ``PATH``, the usual
``/usr/local/cuda*/bin`` (newest first) and the folder of the pip packages ``nvidia-cuda-nvcc`` and
companions (``site-packages/nvidia/cu13/bin``); the host compiler in ``$HARNESS_CXX`` and ``PATH``;
other tools of the toolkit as :func:`find_tool` says.
"""

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.errors import MachineError
from harness.solution.model import Target
from harness.text.plain import plain

PIP_NVCC = 'pip install "cuda-toolkit[nvcc,nvvm,crt,cudart,cccl]==13.0.2"'
VERSION_S = 10.0
USR_LOCAL = Path("/usr/local")
NSIGHT_COMPUTE = Path("/opt/nvidia/nsight-compute")
"""Where distributions put each version; a sandbox sees the tool's own folder, not all of /opt."""


class NvccNotFound(MachineError):
    """There is no CUDA compiler, or none that works where HARNESS_NVCC ``named`` one."""

    def __init__(self, named: str = "") -> None:
        self.named = named
        super().__init__(
            f"HARNESS_NVCC={plain(named, 200)}: no CUDA compiler that works is there; unset it, or "
            "set it to an nvcc"
            if named
            else "no CUDA compiler (nvcc) on this machine. Get it into this Python environment "
            f"with\n    {PIP_NVCC}\nor install the CUDA toolkit and set HARNESS_NVCC to its nvcc."
        )


class HostCompilerNotFound(MachineError):
    """There is no C++ compiler; nvcc needs one too."""

    def __init__(self, detail: str = "") -> None:
        super().__init__(
            f"no C++ compiler (g++) on this machine{detail}. "
            "Install one (apt-get install g++) or set HARNESS_CXX to its path."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Nvcc:
    """A CUDA compiler. ``arguments`` are options that every linking call needs."""

    path: Path
    version: str
    arguments: tuple[str, ...]

    @property
    def major(self) -> str:
        """The major version, ``13``: libraries must be of the same."""
        return self.version.partition(".")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCompiler:
    """A C++ compiler. ``sanitizer`` says whether it has AddressSanitizer's library."""

    path: Path
    version: str
    sanitizer: bool


def find_nvcc(
    environment: Mapping[str, str] = os.environ,
    *,
    site_packages: Iterable[Path] | None = None,
    usr_local: Path = USR_LOCAL,
) -> Nvcc:
    """The first CUDA compiler that answers ``--version``.

    Raises:
        NvccNotFound: none does, or ``$HARNESS_NVCC`` names one that does not.
    """
    named = environment.get("HARNESS_NVCC")
    found = _nvcc_candidates(environment, site_packages, usr_local)
    for candidate in [Path(named)] if named else found:
        if nvcc := _nvcc_at(candidate):
            return nvcc
    raise NvccNotFound(named or "")


def nvcc_for(target: Target) -> Nvcc | None:
    """The CUDA compiler for ``target``.

    None where the CPU is built for, and there is none, or no architecture to check with.

    Raises:
        NvccNotFound: the card's build needs one, or HARNESS_NVCC names one that is not there.
    """
    if target.arch is None:
        return None
    try:
        return find_nvcc()
    except NvccNotFound as missing:
        if target.emulated and not missing.named:
            return None
        raise


def find_host_compiler(environment: Mapping[str, str] = os.environ) -> HostCompiler:
    """The C++ compiler to use.

    Raises:
        HostCompilerNotFound: there is none.
    """
    named = environment.get("HARNESS_CXX")
    search = environment.get("PATH", os.defpath)
    for name in [named] if named else ["g++", "c++"]:
        if not (path := shutil.which(name, path=search)):
            continue
        if version := _output([path, "--version"]).splitlines():
            library = Path(_output([path, "-print-file-name=libasan.so"]).strip())
            # A compiler that does not have the file prints back the bare name.
            sanitizer = library.is_absolute() and library.exists()
            return HostCompiler(path=Path(path), version=version[0], sanitizer=sanitizer)
    raise HostCompilerNotFound(f" at HARNESS_CXX={named}" if named else "")


def find_tool(
    name: str,
    environment: Mapping[str, str] = os.environ,
    *,
    packages: Path = NSIGHT_COMPUTE,
    usr_local: Path = USR_LOCAL,
) -> Path | None:
    """A program of the CUDA toolkit, such as ``compute-sanitizer`` or ``ncu``; None without one.

    That of the newest package in ``packages``, else on PATH, in ``$CUDA_HOME/bin``, beside nvcc, or
    in ``/usr/local/cuda*/bin`` (newest first).
    """
    for candidate in _tool_candidates(name, environment, packages, usr_local):
        if os.access(candidate, os.X_OK):
            return candidate.absolute()
    return None


def find_assembler(nvcc: Nvcc) -> Path | None:
    """The ptxas that came with ``nvcc``."""
    folders = nvcc.path.parent, nvcc.path.resolve().parent
    found = shutil.which("ptxas", path=os.pathsep.join(map(str, folders)))
    return Path(found) if found else None


def find_demangler() -> str | None:
    """A program that turns symbols into C++ names, or none."""
    return shutil.which("cu++filt") or shutil.which("c++filt")


def _tool_candidates(
    name: str, environment: Mapping[str, str], packages: Path, usr_local: Path
) -> Iterator[Path]:
    yield from newest_first(packages, f"*/{name}")
    if on_path := shutil.which(name, path=environment.get("PATH", "")):
        yield Path(on_path)
    if home := environment.get("CUDA_HOME"):
        yield Path(home) / "bin" / name
    with contextlib.suppress(NvccNotFound):
        yield find_nvcc(environment, usr_local=usr_local).path.parent / name
    yield from newest_first(usr_local, f"cuda*/bin/{name}")


def _nvcc_candidates(
    environment: Mapping[str, str], site_packages: Iterable[Path] | None, usr_local: Path
) -> Iterator[Path]:
    if home := environment.get("CUDA_HOME"):
        yield Path(home) / "bin" / "nvcc"
    if on_path := shutil.which("nvcc", path=environment.get("PATH", "")):
        yield Path(on_path)
    yield from newest_first(usr_local, "cuda*/bin/nvcc")
    if site_packages is None:
        site_packages = filter(lambda path: path.name == "site-packages", map(Path, sys.path))
    for folder in site_packages:
        yield from newest_first(folder, "nvidia/cu*/bin/nvcc")


def _nvcc_at(path: Path) -> Nvcc | None:
    """The compiler at ``path``, if it runs."""
    path = path.absolute()
    version = re.search(r"release [\d.]+, V([\d.]+)", _output([str(path), "--version"]))
    if version is None:
        return None
    # The pip packages put the libraries into lib; nvcc looks into lib64 only.
    root = path.parent.parent
    needs_own = (root / "lib/libcudart_static.a").exists() and not (root / "lib64").exists()
    arguments = (f"-L{root / 'lib'}",) if needs_own else ()
    return Nvcc(path=path, version=version[1], arguments=arguments)


def newest_first(folder: Path, pattern: str) -> list[Path]:
    """The files that match, by the version in their path: ``cuda-13.0/bin/nvcc`` is of (13, 0)."""

    def version(path: Path) -> list[int]:
        return [int(digits) for digits in re.findall(r"\d+", str(path.relative_to(folder)))]

    return sorted(folder.glob(pattern), key=version, reverse=True)


def _output(command: list[str]) -> str:
    """The output of a version query; empty if it fails. The compilers are trusted."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=VERSION_S,
            check=True,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout
