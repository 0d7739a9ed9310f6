"""Memory that two processes share by its descriptor."""

import fcntl
import os


def sealed_memory(name: str, size: int) -> int:
    """A memfd of ``size`` bytes that nobody can resize (a truncated one would kill its reader)."""
    fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, size)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
    return fd
