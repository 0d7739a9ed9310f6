"""The description of one sandbox: written by the judge, carried out by its first processes."""

import json
from typing import Any, NamedTuple


class SandboxSpec(NamedTuple):  # importing dataclasses takes a fifth of the time a sandbox takes
    """One sandbox, in fields that JSON can hold: confinement, limits, and what to run."""

    folder: str
    """An existing folder outside; inside, where the private file system is mounted."""
    namespaces: bool
    """Run in fresh namespaces, with a view of its own files."""
    own_user: bool
    """Run as a user that owns nothing; needs the machine's root."""
    readable: tuple[str, ...] = ()
    """Files and folders visible read-only, beside the system's own."""
    writable: tuple[str, ...] = ()
    """The judge's folders that may be changed."""
    devices: tuple[str, ...] = ()
    """Device nodes that may be used."""
    tmp_bytes: int = 1 << 30
    """Size of each private file system in memory, in bytes."""
    file_bytes: int = 1 << 30
    """Greatest size of a file, in bytes."""
    memory_bytes: int = 0
    """Greatest private memory of each process, in bytes; 0 for no limit (ASan needs terabytes)."""
    open_files: int = 1024
    """Descriptors of one process."""
    processes: int = 4096
    """Processes, as RLIMIT_NPROC counts them."""
    cpus: tuple[int, ...] = ()
    """Processors to run on; none for those of whoever starts it."""
    group: str = ""
    """The file by which to join a control group (:mod:`harness.sandbox.cgroup`)."""
    wrapper: tuple[str, ...] = ()
    """A command that starts ``entry`` in a fresh interpreter, such as a debugging tool."""
    command: tuple[str, ...] = ()
    """The program to run, where no channel to an ``entry`` is given."""
    cwd: str = ""
    """Working directory; empty for ``folder``."""
    entry: str = ""
    """``module:function`` to call with the channel and the folder (a Path)."""

    def to_json(self) -> str:
        """The text for :func:`from_json`."""
        return json.dumps(self._asdict())


def from_json(text: str) -> SandboxSpec:
    """The spec that :meth:`SandboxSpec.to_json` has written."""
    fields: dict[str, Any] = json.loads(text)
    lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    return SandboxSpec(**fields | lists)
