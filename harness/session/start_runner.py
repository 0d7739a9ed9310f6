"""Starts a runner: its limits, its environment, and where it finds packages."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from harness import cudacpu
from harness.frameworks import FRAMEWORKS
from harness.sandbox import ROOT
from harness.sandbox.launch import OUTPUT_BYTES, Sandbox
from harness.sandbox.support import packages
from harness.sandbox.support import search_path as search_path
from harness.sandbox.zygote import Zygote, zygote
from harness.session.programs import RunnerProgram

if TYPE_CHECKING:
    from harness.device.base import Device
    from harness.problem.terms import Limits

ENTRY = "harness.runner.main:main"
PRELOAD_COMPILED = "harness.runner.preload:compiled"
PRELOAD_INTERPRETED = "harness.runner.preload:interpreted"

RUNNER_FILES = tuple(str(ROOT / "harness" / part) for part in ("frameworks", "runner"))
"""Files of the harness that a runner needs, beside those of every sandbox."""

CACHES = (
    *("CUDA_CACHE_PATH", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "XDG_CACHE_HOME"),
    *(variable for framework in FRAMEWORKS.values() for variable in framework.caches),
)
"""Environment variables that name folders where compilers keep what they have built."""

_TOOL_OUTPUT_BYTES = 4 << 20


def start_runner(program: RunnerProgram, device: Device, limits: Limits) -> Sandbox:
    """Start a confined process that can load ``program``.

    With a sanitizer, which reserves terabytes, and under a tool its memory is watched, not limited.

    Raises:
        MachineError: the sandbox cannot be made.
    """
    place = device.workplace
    unlimited = program.sanitizer is not None or bool(program.wrapper)
    return Sandbox(
        ENTRY,
        {**runner_environment(program), **device.variables()},
        memory_bytes=0 if unlimited else 2 * limits.host_bytes,
        host_bytes=limits.host_bytes,
        readable=(*RUNNER_FILES, *packages(search_path()), *map(str, program.loads)),
        devices=device.nodes(),
        cpus=() if place is None else sorted(place.runners()),
        zygote=choose_zygote(program),
        caches=CACHES,
        wrapper=program.wrapper,
        output_bytes=_TOOL_OUTPUT_BYTES if program.wrapper else OUTPUT_BYTES,
    )


def choose_zygote(program: RunnerProgram) -> Zygote | None:
    """The zygote that forks runners of Python submissions; others need no torch, and start anew."""
    if program.kind != "python" or program.wrapper:
        return None
    preload = PRELOAD_INTERPRETED if program.interpret else PRELOAD_COMPILED
    return zygote(search_path(), preload=preload, environment=runner_environment(program))


def begin_zygote() -> None:
    """Start the zygote of compiled Python programs, baselines among them; returns at once.

    It takes as long as importing torch, which may go on meanwhile in this process.
    """
    choose_zygote(RunnerProgram(kind="python"))


def runner_environment(program: RunnerProgram) -> dict[str, str]:
    """The runner's whole environment; nothing else is inherited."""
    inherited = ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_HOME", "CC")
    environment = {name: os.environ[name] for name in inherited if name in os.environ}
    environment |= {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
    environment["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # no pool of processes in a sandbox
    if program.sanitizer is not None:
        environment["LD_PRELOAD"] = str(program.sanitizer)
        environment["ASAN_OPTIONS"] = cudacpu.ASAN_OPTIONS
    return environment
