"""What a sandbox is to be like: told by the judge, carried out by the sandbox's first processes."""

from typing import Any, NamedTuple


class SandboxSpec(NamedTuple):  # dataclasses take a fifth of the time that a sandbox takes to start
    """One sandbox, as JSON can hold it.

    ``folder`` exists outside and is where the sandbox's private file system lies inside.
    ``readable`` are files and folders that can be seen, read-only, beside the system's own;
    ``writable`` are folders of the judge's that can be changed; ``devices`` are device nodes.
    ``tmp_bytes`` bounds the private file systems, ``file_bytes`` each file, ``memory_bytes`` the
    private memory of each process (0: no limit). ``namespaces`` and ``own_user`` say which of the
    machine's means to use. ``command`` is what to run (nothing: a runner, which a ``wrapper`` may
    start) in ``cwd``.
    """

    folder: str
    namespaces: bool
    own_user: bool
    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    tmp_bytes: int = 1 << 30
    file_bytes: int = 1 << 30
    memory_bytes: int = 0
    open_files: int = 1024
    processes: int = 4096
    wrapper: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    cwd: str = ""

    def to_json(self) -> dict[str, Any]:
        """As :func:`from_json` reads it, but for tuples."""
        return self._asdict()


def from_json(said: dict[str, Any]) -> SandboxSpec:
    """The plan that was told."""
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in said.items()}
    return SandboxSpec(**values)
