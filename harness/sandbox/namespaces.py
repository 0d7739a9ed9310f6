"""Fresh user, mount, pid, network and ipc namespaces for a command, by util-linux's ``unshare``.

No network, no sight of other processes; when the command's first process ends, the kernel ends all
others of its pid namespace.
"""

import functools
import shutil
import subprocess

_UNSHARE = [
    "unshare",
    *("--user", "--map-root-user"),
    *("--mount", "--mount-proc"),
    *("--pid", "--fork", "--kill-child"),
    *("--net", "--ipc"),
    "--",
]
_TRY_SECONDS = 10.0


@functools.cache
def namespaces_available() -> bool:
    """Whether this machine lets us make them (tried, not guessed)."""
    if shutil.which(_UNSHARE[0]) is None:
        return False
    tried = subprocess.run(
        [*_UNSHARE, "true"], capture_output=True, check=False, timeout=_TRY_SECONDS
    )
    return tried.returncode == 0


def in_namespaces(command: list[str]) -> list[str]:
    """``command`` in namespaces of its own where they can be had, else as it is."""
    return [*_UNSHARE, *command] if namespaces_available() else command
