"""How a runner is started: its limits, its environment, and where it finds packages."""

import os
import sys
from pathlib import Path

from harness.device.base import Device
from harness.frameworks import FRAMEWORKS
from harness.problem.model import Limits
from harness.sandbox.launch import OUTPUT_BYTES, Sandbox
from harness.sandbox.support import packages
from harness.sandbox.zygote import Zygote, zygote
from harness.session.programs import RunnerProgram

CACHES = (
    *("CUDA_CACHE_PATH", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "XDG_CACHE_HOME"),
    *(variable for framework in FRAMEWORKS.values() for variable in framework.caches),
)
"""Environment variables that name folders where compilers keep what they have built."""

_TOOL_OUTPUT_BYTES = 4 << 20


def start_runner(program: RunnerProgram, device: Device, limits: Limits) -> Sandbox:
    """A confined process for ``program``, which it has yet to be told of.

    With a sanitizer, which reserves terabytes, and under a tool its memory is watched, not limited.

    Raises:
        MachineError: the sandbox cannot be made.
    """
    unlimited = program.sanitizer is not None or bool(program.wrapper)
    return Sandbox(
        _environment(program),
        memory_bytes=0 if unlimited else 2 * limits.host_bytes,
        readable=packages(search_path()),
        devices=device.nodes(),
        zygote=_zygote(program),
        caches=CACHES,
        wrapper=program.wrapper,
        output_bytes=_TOOL_OUTPUT_BYTES if program.wrapper else OUTPUT_BYTES,
    )


def _zygote(program: RunnerProgram) -> Zygote | None:
    """Where the runners of Python submissions come from: they need torch, which loads slowly."""
    if program.kind != "python" or program.wrapper:
        return None
    environment = _environment(program)
    return zygote(search_path(), interpret=program.interpret, environment=environment)


def search_path() -> list[str]:
    """Where the runner finds the packages that the judge has.

    Not where Python was started, which it looks at first: that may be anybody's home, and what is
    installed is found without.
    """
    main = getattr(sys.modules["__main__"], "__file__", None) or ""
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    started = {str(Path.cwd()), str(Path(main).absolute().parent)}.difference(named)
    return [entry for entry in sys.path if Path(entry).is_absolute() and entry not in started]


def _environment(program: RunnerProgram) -> dict[str, str]:
    """What the runner's environment holds; nothing else is inherited."""
    keep = ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_HOME", "CC")
    environment = {name: os.environ[name] for name in keep if name in os.environ}
    environment |= {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
    environment["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # no pool of processes in a sandbox
    if program.sanitizer is not None:
        environment["LD_PRELOAD"] = str(program.sanitizer)
        environment["ASAN_OPTIONS"] = program.sanitizer_options
    return environment
