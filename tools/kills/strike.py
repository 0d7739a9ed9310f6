"""What is killed, and how: one process of a run, all of them, or the database's server."""

import contextlib
import os
import random
import signal
from collections.abc import Iterator
from pathlib import Path

from harness.sandbox.processes import descendants
from tools.postgresql import Server, Stop

VICTIMS = (
    *("judge", "builder", "runner", "template"),
    *("terminate", "interrupt", "group", "power", "server"),
)
"""SIGKILL to one process of this kind; SIGTERM or SIGINT to the judge; SIGKILL to its process group
or, at once, to everything; and a restart of the database's server."""

_RESTARTS: tuple[tuple[Stop, float], ...] = (
    *(("fast", 0.0), ("immediate", 0.0)),
    *(("fast", 4.0), ("immediate", 4.0)),
)
"""How it is stopped, and for how many seconds it is away."""

_COMPILERS = (
    *("nvcc", "cicc", "ptxas", "cudafe++", "fatbinary", "g++", "c++", "gcc", "cc1plus"),
    *("sh", "as", "ld", "collect2", "c++filt", "cu++filt"),
)
_RUNS_A_COMMAND = '"command": ["'
"""In the plan of a sandbox that is there for a compiler, the translator or a parser."""
_TEMPLATE = "harness.sandbox.zygote_main"


def strike(judge: int, victim: str, server: Server | None) -> str:
    """Hit ``victim``; what was hit, or nothing if there is no such process now."""
    if victim == "server":
        assert server is not None
        how, down_s = random.choice(_RESTARTS)
        server.restart(how, down_s)
        return f"{how}, {down_s:.0f} s down"
    if victim in ("group", "power"):
        _kill_all(judge, descendants(judge) if victim == "power" else [])
        if victim == "power" and server is not None:
            server.kill()
            server.start()
        return victim
    if victim in ("terminate", "interrupt"):
        os.kill(judge, signal.SIGTERM if victim == "terminate" else signal.SIGINT)
        return victim
    targets = list(_targets(judge, victim))
    if not targets:
        return ""
    pid, name = random.choice(targets)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
        return name
    return ""


def _kill_all(judge: int, others: list[int]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(judge, signal.SIGKILL)
    for pid in others:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _targets(judge: int, victim: str) -> Iterator[tuple[int, str]]:
    """Processes of this kind below the judge, and what each is called."""
    if victim == "judge":
        yield judge, "judge"
        return
    commands: set[int] = set()
    for pid in descendants(judge):  # parents before children
        name, line = command(pid)
        parent = _parent(pid)
        if parent in commands or _RUNS_A_COMMAND in line or name in _COMPILERS:
            commands.add(pid)
        template = _TEMPLATE in line and parent == judge
        kind = "builder" if pid in commands else "template" if template else "runner"
        if kind == victim:
            yield pid, name


def command(pid: int) -> tuple[str, str]:
    """Name and command line of a process; empty if it is gone."""
    try:
        name = Path(f"/proc/{pid}/comm").read_text().strip()
        return name, Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace")
    except OSError:
        return "", ""


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return 0
