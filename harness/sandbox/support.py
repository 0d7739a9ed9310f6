"""The sandboxes that this machine supports, found by trying, and the parts of every sandbox."""

import functools
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, NamedTuple

from harness.errors import MachineError
from harness.sandbox import INSTALLED, ROOT, python_command, scratch
from harness.sandbox.spec import SandboxSpec
from harness.text.system_errors import machine_fault

_TRY_SECONDS = 20.0
"""Time for one sandbox and an interpreter in it to start, on a busy machine."""
MONITOR = python_command("from harness.sandbox.monitor import main; main()")
"""Starts :mod:`harness.sandbox.monitor`; the arguments of its ``main`` follow."""


class SandboxSupport(NamedTuple):
    """Whether this machine allows fresh namespaces, and in them a user that owns nothing."""

    namespaces: bool
    own_user: bool


class _NoSandboxError(MachineError):
    """The machine does not allow one: not, that it is short of something just now."""


_trying = threading.Lock()


def detect_support() -> SandboxSupport:
    """The best that works here, in some tens of milliseconds; tried once per process.

    Raises:
        MachineError: it cannot be tried, as no process can be started.
    """
    with _trying:
        return _detected()


@functools.cache
def _detected() -> SandboxSupport:
    spec = SandboxSpec(folder="", namespaces=True, own_user=True, readable=python_files())
    if os.getuid() == 0 and _works(spec):
        return SandboxSupport(namespaces=True, own_user=True)
    return SandboxSupport(namespaces=_works(spec._replace(own_user=False)), own_user=False)


def python_files() -> tuple[str, ...]:
    """The files of a Python interpreter, and those of the harness that confine a process."""
    python = (sys.prefix, sys.base_prefix, os.path.realpath(sys.prefix), sys.executable)
    return (*python, *(f"{ROOT}/harness/{part}" for part in ("__init__.py", "wire", "sandbox")))


def search_path() -> list[str]:
    """Folders in which a sandbox finds the judge's packages, wherever Python was started.

    Where that was may be anybody's home, and installed packages are elsewhere.
    """
    main = getattr(sys.modules["__main__"], "__file__", None) or ""
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    started = {str(Path.cwd()), str(Path(main).absolute().parent)}.difference(named)
    return [entry for entry in sys.path if Path(entry).is_absolute() and entry not in started]


def packages(path: list[str]) -> tuple[str, ...]:
    """The folders of an import path that hold neither the judge nor its temporary files.

    Where the judge is installed among other packages, those are needed: it is covered itself.
    """
    ours = (scratch.home(),) if INSTALLED else (ROOT, scratch.home())
    return tuple(entry for entry in path if not any(place.is_relative_to(entry) for place in ours))


def parts(tool: Path) -> list[Path]:
    """The folders that belong to a compiler at ``…/bin/tool``; not all of ``…``, maybe a home."""
    root = tool.resolve().parent.parent
    names = ("bin", "include", "lib", "lib64", "libexec", "nvvm", "share", "targets")
    return [*(root / name for name in names), *root.glob("*-linux-gnu*")]


def start_monitor(
    spec: SandboxSpec,
    environment: Mapping[str, str],
    life: int,
    *,
    channel: int | None = None,
    stdin: int | IO[bytes] = subprocess.DEVNULL,
    peak: int | None = None,
) -> subprocess.Popen[bytes]:
    """Start a fresh monitor for ``spec``, which ends when the other end of ``life`` closes.

    To ``peak`` it writes the greatest resident memory that one of its processes had, in bytes.
    """
    extra = () if peak is None else (peak,)
    numbers = ("-" if channel is None else channel, life, *extra)
    return subprocess.Popen(
        [*MONITOR, spec.to_json(), *map(str, numbers)],
        env=environment,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=(life, *extra) if channel is None else (channel, life, *extra),
        start_new_session=True,
    )


def in_sandbox(spec: SandboxSpec) -> str:
    """The output of the spec's command, a program of ours; its ``folder`` is made for it.

    Raises:
        MachineError: no sandbox can be made, or the program fails; with what was printed.
    """
    life_read, life = os.pipe()
    try:
        with tempfile.TemporaryDirectory(prefix="try-", dir=scratch.home()) as folder:
            done = subprocess.run(
                [*MONITOR, spec._replace(folder=folder).to_json(), "-", str(life_read)],
                capture_output=True,
                check=False,
                text=True,
                timeout=_TRY_SECONDS,
                pass_fds=(life_read,),
                stdin=subprocess.DEVNULL,
            )
    except (OSError, subprocess.SubprocessError) as error:
        raise machine_fault(error) or _NoSandboxError(f"no sandbox: {error}") from error
    finally:
        os.close(life)
        os.close(life_read)
    if done.returncode != 0:
        raise _NoSandboxError(f"no sandbox: {done.stdout}{done.stderr}")
    return done.stdout


def _works(spec: SandboxSpec) -> bool:
    """Whether the harness's own modules can be imported in such a sandbox."""
    try:
        in_sandbox(spec._replace(command=python_command("import harness.sandbox.init")))
    except _NoSandboxError:
        return False
    return True
