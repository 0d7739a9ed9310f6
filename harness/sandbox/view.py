"""A sandbox's own root file system, put together from what it needs.

A fresh root in memory shows the system's programs and libraries, a handful of files of ``/etc``,
the folders that the spec names, ``/proc`` of the sandbox's own processes, ``/sys``, a few harmless
devices and those of the spec: all of it read-only, but for private temporary folders and what the
spec lets it write. Homes, the judge's packages and results, others' files and sockets do not exist.
A command (a compiler) sees neither ``/sys`` nor a device that can be read without end.
"""

import contextlib
import os
from pathlib import Path

from harness.sandbox import OURS, system
from harness.sandbox.spec import SandboxSpec

SUBMISSION_USER = 1
"""The user id inside, where there is a second user; else everything runs as the sandbox's 0."""

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
ETC = ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "OpenCL")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_DEVICES_OF_COMMANDS = ("/dev/null",)  # what compilers do without, a source cannot include
_LINKS = {"fd": "fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}
# A process of the machine's root may write there, with or without capabilities.
_PROC_READ_ONLY = ("sys", "irq", "bus", "fs", "acpi", "scsi", "driver", "sysrq-trigger")
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - a file system of the sandbox's own
_TMP = "/tmp"  # noqa: S108 - likewise
_PASSWD = "root:x:0:0::/:/bin/false\nsubmission:x:1:1::/:/bin/false\n"  # noqa: S105
_GROUP = "root:x:0:\nsubmission:x:1:\n"
_ROOT_BYTES = 4 << 20

PROCESSES = 1024
"""Processes and threads of one sandbox at a time, where the kernel can limit them."""


class _Root:
    """The new root while it is put together, at ``place``."""

    def __init__(self, place: str) -> None:
        self.place = place
        self._shown: list[str] = []
        self._covered: list[str] = []

    def at(self, path: str) -> Path:
        """The place of ``path`` of the new root, as long as it is being made."""
        return Path(self.place + path)

    def folder(self, path: str) -> Path:
        """Make an empty folder, and those above it."""
        self.at(path).mkdir(parents=True, exist_ok=True)
        return self.at(path)

    def show(self, path: str) -> None:
        """Show an existing file or folder of outside, at its own path; leave out a missing one.

        A link is shown as a link to its final target.
        """
        real = os.path.realpath(path)
        if path != real and not self._seen(path):
            self.folder(str(Path(path).parent))
            with contextlib.suppress(FileExistsError):
                self.at(path).symlink_to(real)
        if self._seen(real) or not Path(real).exists():
            return
        if Path(real).is_dir():
            self.folder(real)
        else:
            self.folder(str(Path(real).parent))
            self.at(real).touch()
        with contextlib.suppress(PermissionError):  # not ours to see: not the sandbox's either
            system.bind(real, self.at(real))
            self._shown.append(real)

    def cover(self, path: str, options: str) -> None:
        """Show an empty folder in place of one that is shown; what is in it may be shown again."""
        real = os.path.realpath(path)
        if self._seen(real) and Path(real).is_dir():
            system.mount("tmpfs", self.at(real), system.MS_NOSUID | system.MS_NODEV, options)
            self._covered.append(real)

    def _seen(self, path: str) -> bool:
        def nearest(places: list[str]) -> int:
            return max((len(p) for p in places if path == p or path.startswith(p + "/")), default=0)

        return nearest(self._shown) > nearest(self._covered)


def private_places(folder: str) -> tuple[str, ...]:
    """The mount points of the file systems in memory of a sandbox with this folder."""
    own = () if folder.startswith(_TMP + "/") else (folder,)
    return (_TMP, _SHARED_MEMORY, *own)


def outside(spec: SandboxSpec) -> tuple[str, ...]:
    """The devices and the kernel's files that a sandbox sees, but for its own ``/proc``."""
    harmless = _DEVICES_OF_COMMANDS if spec.command else (*DEVICES, "/sys")
    return (*harmless, *spec.devices)


def enter(spec: SandboxSpec) -> list[str]:
    """Make the view, make it this process's root, and return the layers of confinement made.

    To be called by the root of fresh user, mount and pid namespaces.
    """
    user = SUBMISSION_USER if spec.own_user else 0
    unprivileged = system.MS_NOSUID | system.MS_NODEV
    system.mount("tmpfs", spec.folder, system.MS_NOSUID, f"size={_ROOT_BYTES},mode=755")
    root = _Root(spec.folder)
    root.folder("/etc")
    for path in (*SYSTEM, *(f"/etc/{name}" for name in ETC)):
        root.show(path)
    root.at("/etc/passwd").write_text(_PASSWD, encoding="ascii")
    root.at("/etc/group").write_text(_GROUP, encoding="ascii")
    options = f"size={spec.tmp_bytes},mode=1777,uid={user},gid={user}"
    for path in private_places(spec.folder):  # before what may lie below
        system.mount("tmpfs", root.folder(path), unprivileged, options)
    os.chown(root.folder(spec.folder), user, user)
    visible = (*sorted(spec.readable, key=len), *spec.writable)
    for path in (*visible, *outside(spec)):
        root.show(path)
    for path in OURS:  # in an installed harness they lie among packages of others
        root.cover(path, f"size={_ROOT_BYTES},mode=755")
    for path in visible:
        root.show(path)
    for name, target in _LINKS.items():
        root.at(f"/dev/{name}").symlink_to(f"/proc/self/{target}")
    system.mount("proc", root.folder("/proc"), unprivileged | system.MS_NOEXEC)
    system.change_root(spec.folder)
    layers = ["a view of its own files", *_limit_kernel()]
    system.set_read_only("/", recursive=True, read_only=True)
    for path in (*private_places(spec.folder), "/proc", *spec.writable):
        system.set_read_only(path, recursive=False, read_only=False)
    return [*layers, "read-only files", "private tmpfs"]


def _limit_kernel() -> list[str]:
    """Set limits of the namespace in its ``/proc``, then forbid writing there; the layers."""
    layers = []
    for name, value, layer in (
        # Linux 6.14: a limit per pid namespace
        ("kernel/pid_max", PROCESSES, "process limit"),
        # in one of its own it would have every capability again
        ("user/max_user_namespaces", 0, "no further namespaces"),
    ):
        with contextlib.suppress(OSError):
            Path("/proc/sys", name).write_text(str(value), encoding="ascii")
            layers.append(layer)
    for name in _PROC_READ_ONLY:
        with contextlib.suppress(FileNotFoundError):
            system.bind(f"/proc/{name}", f"/proc/{name}")
    return layers
