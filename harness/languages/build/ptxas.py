"""Each kernel's figures from the output of ``ptxas -v``.

The text comes out of a compiler that worked on untrusted source, which can print lines of the same
shape: the figures are shown, never decided upon.
"""

import re
import subprocess
from collections.abc import Sequence

from harness.records.build import KernelResources

MAX_KERNELS = 256
MAX_NAME = 300
"""Characters; template arguments can make a name arbitrarily long."""
DEMANGLE_S = 5.0

_ENTRY = re.compile(r"ptxas info\s*: Compiling entry function '([^']+)' for '[^']+'")
_SPILLS = re.compile(r"\b(\d{1,12}) bytes spill stores, (\d{1,12}) bytes spill loads")
_PROPERTIES = re.compile(r"ptxas info\s*: Function properties for '?([^'\s]+)'?")
_USED = re.compile(r"ptxas info\s*: Used (\d{1,12}) registers")
_SHARED = re.compile(r"\b(\d{1,12})(?:\+\d{1,12})? bytes smem")
_NOISE = re.compile(r"^(?:ptxas|nvlink) info\b(?!\s*: \(C\d).*$|^\s+\d+ bytes stack frame, .*$")
"""Not what has a number, such as C7510: that tensor cores have to wait for each step."""


def parse(log: str) -> tuple[KernelResources, ...]:
    """The kernels in ``log``, in its order, under their mangled names.

    Functions that are not entry points (device functions not inlined) are left out.
    """
    kernels: list[KernelResources] = []
    entry = ""
    described = ""
    spills = (0, 0)
    for line in log.splitlines():
        if match := _ENTRY.search(line):
            entry, described, spills = match[1], match[1], (0, 0)
        elif match := _PROPERTIES.search(line):
            described = match[1]
        elif (match := _SPILLS.search(line)) and described == entry:
            spills = (int(match[1]), int(match[2]))
        elif (match := _USED.search(line)) and entry and len(kernels) < MAX_KERNELS:
            shared = _SHARED.search(line)
            kernels.append(
                KernelResources(
                    name=entry[:MAX_NAME],
                    registers=int(match[1]),
                    shared_bytes=int(shared[1]) if shared else 0,
                    spill_store_bytes=spills[0],
                    spill_load_bytes=spills[1],
                )
            )
            entry = ""
    return tuple(kernels)


def without_info(log: str) -> str:
    """``log`` without the lines that :func:`parse` reads; warnings, hints and errors stay."""
    return "\n".join(line for line in log.splitlines() if not _NOISE.match(line)).strip("\n")


def demangled(
    kernels: Sequence[KernelResources], demangler: str | None
) -> tuple[KernelResources, ...]:
    """``kernels`` under the names of their source, if there is a ``c++filt`` and it answers."""
    names = demangled_names([kernel.name for kernel in kernels], demangler)
    pairs = zip(kernels, names, strict=True)
    return tuple(kernel.model_copy(update={"name": name[:MAX_NAME]}) for kernel, name in pairs)


def demangled_names(names: Sequence[str], demangler: str | None) -> list[str]:
    """``names`` as the source has them, in order; as they are without an answer."""
    if not demangler or not names:
        return list(names)
    try:
        done = subprocess.run(
            [demangler, "--no-params"],
            input="\n".join(names),
            capture_output=True,
            text=True,
            timeout=DEMANGLE_S,
            env={},
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return list(names)
    found = done.stdout.splitlines()
    return found if len(found) == len(names) else list(names)
