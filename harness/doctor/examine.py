"""What this machine can do, what it lacks, and how to get that.

Quick: versions come from package metadata, tools are only asked for their version, and nothing
large is imported but the optional frameworks that are installed, side by side, since half of one is
as good as none.
"""

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.errors import MachineError
from harness.frameworks import FRAMEWORKS, Framework, installed_version
from harness.languages.build.cache import Cache, default_cache
from harness.languages.build.framework_imports import import_fault
from harness.languages.build.libraries import (
    Libraries,
    LibraryNotFound,
    libraries_for,
    remedy,
)
from harness.languages.build.linking import fails_to_link
from harness.languages.build.toolchain import (
    PIP_NVCC,
    HostCompiler,
    NvccNotFound,
    find_assembler,
    find_host_compiler,
    find_nvcc,
    find_tool,
)
from harness.problem.libraries import LIBRARIES
from harness.sandbox.cgroup import HOW, delegated
from harness.sandbox.selftest import breaches
from harness.sandbox.support import detect_support
from harness.text.plain import plain

OLDEST_PYTHON = (3, 11)

_SHOWN = 400
"""Characters of a text that are shown."""


class State(StrEnum):
    """Whether a part is there."""

    OK = "ok"
    LIMITED = "limited"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Finding:
    """One part of the machine. ``remedy`` says how to get what is missing; empty if nothing is."""

    name: str
    detail: str
    remedy: str = ""
    state: State = State.OK


_STYLES = {State.OK: "green", State.LIMITED: "yellow", State.MISSING: "red"}
_limited = partial(Finding, state=State.LIMITED)
_missing = partial(Finding, state=State.MISSING)


def examine(
    *, store: Path | None = None, environment: Mapping[str, str] = os.environ
) -> list[Finding]:
    """Look at everything a grade may need, the most basic first.

    ``store`` is the file of results; None where they are in no file.
    """
    found = [_python(), _torch(), _triton(), *_gpus()]
    found += [*_compilers(environment), *cuda_libraries(environment), *_frameworks()]
    found += [_sandbox(), _memory()]
    if store is not None:
        found.append(_folder("store", store, "give another place for the results"))
    cache = default_cache(environment).root
    found.append(_folder("cache", cache, "set HARNESS_CACHE to a folder that can be written"))
    found.append(_tool("compute-sanitizer", "memory checks on the GPU", environment))
    found.append(_tool("ncu", "profiles", environment))
    return found


def render_findings(findings: Iterable[Finding], console: Console) -> None:
    """One row per part of the machine; remedies below the part they cure."""
    table = Table(box=None, pad_edge=False, show_header=False)
    for overflow in ("ellipsis", "ellipsis", "fold"):
        table.add_column(overflow=overflow)
    for finding in findings:
        mark = Text(finding.state, style=_STYLES[finding.state])
        name, detail = plain(finding.name, _SHOWN), plain(finding.detail, _SHOWN)
        table.add_row(mark, Text(name), Text(detail))
        if finding.remedy:
            table.add_row("", "", Text(plain(f"→ {finding.remedy}", _SHOWN), style="bold"))
    console.print(table)


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    detail = f"{version} ({sys.executable})"
    if sys.version_info < OLDEST_PYTHON:
        wanted = ".".join(map(str, OLDEST_PYTHON))
        return _limited("python", detail, f"use Python {wanted} or newer")
    return Finding("python", detail)


def _torch() -> Finding:
    version = installed_version("torch")
    if version is None:
        return _missing("torch", "not installed: nothing can be judged", "pip install torch")
    if cuda := _torch_cuda():
        return Finding("torch", f"{version}, CUDA {cuda}")
    detail = f"{version}, without CUDA: grades on the CPU only"
    return _limited("torch", detail, "on a GPU machine: pip install torch (the regular build)")


def _torch_cuda() -> str | None:
    """The CUDA version that torch was built for, read from its text; importing takes seconds."""
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    try:
        text = (Path(spec.origin).parent / "version.py").read_text()
    except OSError:
        return None
    match = re.search(r"^cuda\b[^=\n]*=\s*['\"]([^'\"]+)['\"]", text, re.MULTILINE)
    return match[1] if match else None


def _triton() -> Finding:
    version = installed_version("triton")
    if version is None:
        return _missing("triton", "not installed: no Triton submissions", "pip install triton")
    return Finding("triton", version)


def _frameworks() -> Iterator[Finding]:
    """The optional frameworks: each that is installed is imported as a runner would."""
    with ThreadPoolExecutor(len(FRAMEWORKS)) as pool:
        yield from pool.map(_framework, FRAMEWORKS.values())


def _framework(framework: Framework) -> Finding:
    name, version = framework.name, framework.version()
    if version is None:
        return _missing(name, f"optional, for {framework.title} submissions", framework.remedy)
    if fault := import_fault(framework):
        return _limited(name, f"{version}, {fault.reason}", fault.remedy)
    return Finding(name, version)


def _gpus() -> Iterator[Finding]:
    """The driver and each card, by NVML."""
    remedy = "use a machine with an NVIDIA GPU; without one grades run on the CPU"
    try:
        import pynvml
    except ImportError:
        yield _missing("gpu", "nvidia-ml-py is not installed", "pip install nvidia-ml-py")
        return
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        yield _missing("driver", str(error), remedy)
        return
    try:
        yield Finding("driver", str(pynvml.nvmlSystemGetDriverVersion()))
        count = pynvml.nvmlDeviceGetCount()
        if count == 0:
            yield _missing("gpu", "the driver sees none", remedy)
        for index in range(count):
            handle = pynvml.nvmlDeviceGetHandleByIndex(index)
            major, minor = pynvml.nvmlDeviceGetCudaComputeCapability(handle)
            gib = pynvml.nvmlDeviceGetMemoryInfo(handle).total / (1 << 30)
            name = pynvml.nvmlDeviceGetName(handle)
            detail = f"{name}, sm_{major}{minor}, {gib:.0f} GiB"
            yield _with_persistence(pynvml, index, handle, detail)
    except pynvml.NVMLError as error:
        yield _limited("gpu", str(error), "see what nvidia-smi says")
    finally:
        pynvml.nvmlShutdown()


def _with_persistence(pynvml: ModuleType, index: int, handle: object, detail: str) -> Finding:
    """The finding on a card: where NVML says it, with whether its driver stays loaded."""
    try:
        mode = pynvml.nvmlDeviceGetPersistenceMode(handle)
    except pynvml.NVMLError:  # such as on Windows' drivers, and on parts of cards
        return Finding(f"gpu {index}", detail)
    if mode == pynvml.NVML_FEATURE_ENABLED:
        return Finding(f"gpu {index}", f"{detail}, persistence mode on")
    return _limited(
        f"gpu {index}",
        f"{detail}, persistence mode off: asleep between judges, who wait until it is awake",
        f"sudo nvidia-smi -i {index} -pm 1, or nvidia-persistenced as a service",
    )


def _compilers(environment: Mapping[str, str]) -> Iterator[Finding]:
    try:
        nvcc = find_nvcc(environment)
    except NvccNotFound as missing:
        unchecked = "CUDA submissions run on the CPU only, unchecked by nvcc"
        yield _missing("nvcc", str(missing) if missing.named else unchecked, PIP_NVCC)
    else:
        yield Finding("nvcc", f"{nvcc.version} ({nvcc.path})")
        if ptxas := find_assembler(nvcc):
            yield Finding("ptxas", str(ptxas))
        else:
            detail = "PTX submissions are read by the driver of a card alone"
            yield _missing("ptxas", detail, PIP_NVCC)
    try:
        host = find_host_compiler(environment)
    except MachineError as error:
        yield _missing("g++", str(error), "apt-get install g++")
        return
    yield Finding("g++", f"{host.version} ({host.path})")
    if host.sanitizer:
        yield Finding("libasan", "accesses out of bounds are found on the CPU path")
    else:
        detail = "accesses out of bounds go unnoticed on the CPU path"
        yield _missing("libasan", detail, "apt-get install libasan8, or your compiler's version")


def cuda_libraries(environment: Mapping[str, str]) -> Iterator[Finding]:
    """The libraries that CUDA C++ may use: a small program is linked with each that is there."""
    try:
        nvcc, host = find_nvcc(environment), find_host_compiler(environment)
    except MachineError:  # said already
        return
    here, cache = libraries_for(nvcc, environment), default_cache(environment)
    look = partial(_cuda_library, here=here, host=host, cache=cache)
    with ThreadPoolExecutor(4) as pool:
        yield from pool.map(look, LIBRARIES)


def _cuda_library(name: str, here: Libraries, host: HostCompiler, cache: Cache) -> Finding:
    how = remedy(name, here.nvcc.major)
    try:
        found = here.find(name)
    except LibraryNotFound as missing:
        return _missing(name, f"optional, for .cu files{missing.elsewhere}", how)
    shown = f"{found.version} ({found.place})".strip()
    try:
        complaint = fails_to_link(found, here.nvcc, host, cache)
    except MachineError as error:  # the cache's row says so, too
        return _limited(name, f"{shown}, not tried: {error}", "see what the message says")
    if complaint:
        return _limited(name, f"{shown}, does not link: {complaint}", how)
    return Finding(name, shown)


def _sandbox() -> Finding:
    """Try, from inside, what a submission must not be able to do."""
    name = "sandbox"
    try:
        found = breaches()
    except MachineError as error:
        return _missing(name, str(error), "see what the message says; nothing can be graded")
    if not found:
        user = ", as a user of its own" if detect_support().own_user else ""
        return Finding(name, f"all attempts to get out of it failed{user}")
    worse = any(not breach.startswith("see ") for breach in found)
    advice = ": grade nobody's code but your own" if worse else ""
    return _limited(
        name,
        f"submissions can {', '.join(found)}{advice}",
        "sysctl kernel.unprivileged_userns_clone=1 "
        "kernel.apparmor_restrict_unprivileged_userns=0; "
        "in Docker: --security-opt seccomp=unconfined --security-opt systempaths=unconfined",
    )


def _memory() -> Finding:
    """How the memory of submissions is counted."""
    if delegated() is not None:
        return Finding("memory", "of submissions is counted and limited by the kernel (cgroup)")
    detail = "of submissions is counted by the judge, which looks a few times a second"
    return Finding("memory", detail, f"where the kernel shall limit it: {HOW}")


def _folder(name: str, place: Path, remedy: str) -> Finding:
    """Whether ``place``, which need not exist yet, can be written."""
    existing = next(p for p in (place, *place.absolute().parents) if p.exists())
    if not os.access(existing, os.W_OK):
        return _missing(name, f"{place} cannot be written", remedy)
    free_gib = shutil.disk_usage(existing).free / (1 << 30)
    if free_gib < 1.0:
        return _limited(name, f"{place}, {free_gib:.2f} GiB free", "free some disk space")
    return Finding(name, f"{place}, {free_gib:.0f} GiB free")


def _tool(name: str, use: str, environment: Mapping[str, str]) -> Finding:
    """An optional program of the CUDA toolkit."""
    if path := find_tool(name, environment):
        return Finding(name, str(path))
    return _missing(name, f"optional, for {use}", "comes with the CUDA toolkit")
