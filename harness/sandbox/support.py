"""How a sandbox can be made on this machine, tried and not guessed, and what every one needs."""

import functools
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import NamedTuple

from harness.errors import MachineError
from harness.sandbox import ROOT, scratch
from harness.sandbox.spec import SandboxSpec

_BOOT = (
    f"import sys; sys.path[:0] = [{str(ROOT)!r}]; from harness.sandbox.monitor import main; main()"
)
_TRY = f"import sys; sys.path[:0] = [{str(ROOT)!r}]; import harness.runner.main"
_TRY_SECONDS = 20.0

MONITOR = (sys.executable, "-I", "-S", "-u", "-c", _BOOT)
"""Starts :mod:`harness.sandbox.monitor`: the plan, the channel or ``-``, and *life* follow."""


class SandboxSupport(NamedTuple):
    """What there is. ``own_user``: submissions run as a user that owns nothing."""

    namespaces: bool
    own_user: bool


_trying = threading.Lock()


def detect_support() -> SandboxSupport:
    """The best that works here, in some tens of milliseconds; tried once."""
    with _trying:
        return _found()


@functools.cache
def _found() -> SandboxSupport:
    plan = SandboxSpec(folder="", namespaces=True, own_user=True, readable=python_files())
    if os.getuid() == 0 and _works(plan):
        return SandboxSupport(namespaces=True, own_user=True)
    return SandboxSupport(namespaces=_works(plan._replace(own_user=False)), own_user=False)


def python_files() -> tuple[str, ...]:
    """What an interpreter needs to start a runner: itself, and of ours what runs in sandboxes."""
    names = ("__init__.py", "wire.py", "frameworks", "runner", "sandbox")
    ours = (ROOT / "harness" / part for part in names)
    python = (sys.prefix, sys.base_prefix, os.path.realpath(sys.prefix), str(Path(sys.executable)))
    return (*python, *map(str, ours))


def packages(path: list[str]) -> tuple[str, ...]:
    """The folders of an import path, but for those that hold more than packages.

    They do where they hold the judge, or its temporary files, and with them a sandbox's own.
    """
    ours = (ROOT, scratch.home())
    return tuple(entry for entry in path if not any(place.is_relative_to(entry) for place in ours))


def parts(tool: Path) -> list[Path]:
    """The folders a compiler at ``…/bin/tool`` is made of; not all of ``…``: it may be a home."""
    root = tool.resolve().parent.parent
    names = ("bin", "include", "lib", "lib64", "libexec", "nvvm", "share", "targets")
    return [*(root / name for name in names), *root.glob("*-linux-gnu*")]


def in_sandbox(plan: SandboxSpec) -> str:
    """What a program of ours prints in a sandbox; ``plan.folder`` is made for it.

    Raises:
        MachineError: it cannot be made, or the program fails; with what was printed.
    """
    life_read, life = os.pipe()
    try:
        with tempfile.TemporaryDirectory(prefix="try-", dir=scratch.home()) as folder:
            done = subprocess.run(
                [*MONITOR, json.dumps(plan._replace(folder=folder).to_json()), "-", str(life_read)],
                capture_output=True,
                check=False,
                text=True,
                timeout=_TRY_SECONDS,
                pass_fds=(life_read,),
                stdin=subprocess.DEVNULL,
            )
    except (OSError, subprocess.SubprocessError) as error:
        raise MachineError(f"no sandbox: {error}") from error
    finally:
        os.close(life)
        os.close(life_read)
    if done.returncode != 0:
        raise MachineError(f"no sandbox: {done.stdout}{done.stderr}")
    return done.stdout


def _works(plan: SandboxSpec) -> bool:
    """Whether a runner's modules can be imported in such a sandbox."""
    try:
        in_sandbox(plan._replace(command=(sys.executable, "-I", "-S", "-c", _TRY)))
    except MachineError:
        return False
    return True
