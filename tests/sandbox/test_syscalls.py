"""The numbers of system calls, against the kernel's own headers; what the filter does is in
test_launch."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness.sandbox import syscalls

ROOT = Path(__file__).parents[2]
TABLES = {**syscalls.DENIED, **syscalls.SPECIAL, **syscalls.EXECUTE, **syscalls.BOUNDED}
HEADERS = {
    0: Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    1: Path("/usr/include/asm-generic/unistd.h"),
}


@pytest.mark.parametrize("column", HEADERS, ids=["x86-64", "aarch64"])
def test_numbers_of_system_calls_are_those_of_the_kernel(column: int) -> None:
    header = HEADERS[column]
    if not header.exists():
        pytest.skip(f"no {header}")
    said = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text())
    numbers = {name: int(number) for name, number in said}
    ours = {name: both[column] for name, both in TABLES.items() if both[column] is not None}
    known = {name: number for name, number in ours.items() if name in numbers}
    assert len(known) > 0.9 * len(ours)  # an old header lacks the newest
    assert known == {name: numbers[name] for name in known}
    absent = [name for name, both in TABLES.items() if both[column] is None]
    assert not [name for name in absent if name in numbers]


def inside(code: str) -> str:
    """What a process prints that may not gain privileges."""
    head = (
        "import ctypes, errno, os, socket\n"
        "from harness.sandbox import syscalls, system\n"
        "system.prctl(system.PR_SET_NO_NEW_PRIVS, 1, '')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", head + code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_exec_is_denied_after_forbid_programs() -> None:
    code = """
syscalls.forbid_programs()
try:
    os.execv("/bin/true", ["true"])
except PermissionError:
    pid = os.fork()
    if pid == 0:
        os._exit(3)
    print("refused", os.waitpid(pid, 0)[1] >> 8)
"""
    assert inside(code) == "refused 3"


def test_a_tool_may_trace() -> None:
    code = """
number = syscalls.DENIED["ptrace"][0 if os.uname().machine == "x86_64" else 1]
def trace():
    return ctypes.CDLL(None, use_errno=True).syscall(number, 16, 999999999, 0, 0)
syscalls.deny_system_calls(tracing=True)
trace(); print(errno.errorcode[ctypes.get_errno()])
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(number, 16, 999999999, 0, 0)
first = ctypes.get_errno()
syscalls.deny_system_calls()
libc.syscall(number, 16, 999999999, 0, 0)
print(errno.errorcode[first], errno.errorcode[ctypes.get_errno()])
"""
    assert inside(code).splitlines()[-1] == "ESRCH EPERM"


def test_namespaces_cannot_be_made_by_clone() -> None:
    code = """
libc = ctypes.CDLL(None, use_errno=True)
syscalls.deny_system_calls()
column = 0 if os.uname().machine == "x86_64" else 1
for name, flags in (("clone", 0x10000000 | 17), ("clone3", 0)):
    number = syscalls.SPECIAL[name][column]
    print(libc.syscall(number, flags, 0, 0, 0, 0), errno.errorcode[ctypes.get_errno()])
with socket.socket(socket.AF_UNIX):
    print("unix")
"""
    assert inside(code).splitlines() == ["-1 EPERM", "-1 ENOSYS", "unix"]


def test_there_is_no_filter_for_an_unknown_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    other = os.uname_result(("Linux", "", "", "", "riscv64"))
    monkeypatch.setattr(os, "uname", lambda: other)
    assert not syscalls.deny_system_calls()
    assert not syscalls.forbid_programs()


def test_memory_of_no_process_is_refused() -> None:
    code = """
libc = ctypes.CDLL(None, use_errno=True)
syscalls.deny_system_calls()
column = 0 if os.uname().machine == "x86_64" else 1
for name in ("shmget", "shmat", "msgget", "semget", "mq_open", "vmsplice", "splice", "tee"):
    done = libc.syscall(syscalls.DENIED[name][column], 0, 4096, 0o1600, 0, 0, 0)
    print(done, errno.errorcode[ctypes.get_errno()])
"""
    assert inside(code).splitlines() == ["-1 EPERM"] * 8


def test_buffers_of_sockets_and_pipes_stay_small() -> None:
    code = """
import fcntl
one, other = socket.socketpair()
syscalls.deny_system_calls()
before = one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
for option in (socket.SO_SNDBUF, 32):
    one.setsockopt(socket.SOL_SOCKET, option, 4 << 20)
print(one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) - before)
one.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
print(one.getsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED))
pipe, _ = os.pipe()
print(fcntl.fcntl(pipe, fcntl.F_GETFD), fcntl.fcntl(pipe, 1032))
try:
    fcntl.fcntl(pipe, 1031, 1 << 20)
except PermissionError:
    print("refused")
"""
    assert inside(code).splitlines() == ["0", "1", "1 65536", "refused"]
