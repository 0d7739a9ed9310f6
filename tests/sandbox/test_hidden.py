"""Memory that no process shows counts as the sandbox's that holds it, and as nobody else's."""

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from support.corpus import rest_in_corpus
from support.inside import Inside
from support.naps import until

from harness.errors import MachineError
from harness.sandbox import hidden, processes
from harness.sandbox.hidden import HiddenMemory
from harness.sandbox.support import detect_support

MIB = 1 << 20
LIMIT = 256 * MIB


@pytest.fixture(autouse=True)
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The sums are the machine's: one of these tests at a time, in whatever process."""
    shared = tmp_path_factory.getbasetemp().parent / "hidden-memory.lock"
    with shared.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


SHARED = {
    "in flight": """
import os, socket
pairs = [socket.socketpair() for _ in range(6)]
for one, _ in pairs:
    fd = os.memfd_create("x")
    os.posix_fallocate(fd, 0, 64 << 20)
    socket.send_fds(one, [b"x"], [fd])
    os.close(fd)
""",
    "in flight in a socket in flight": """
import os, socket
keep, kept = socket.socketpair()
for _ in range(6):
    one, other = socket.socketpair()
    fd = os.memfd_create("x")
    os.posix_fallocate(fd, 0, 64 << 20)
    socket.send_fds(one, [b"x"], [fd])
    socket.send_fds(keep, [b"x"], [other.fileno()])
    os.close(fd), one.close(), other.close()
""",
    "a page of each is mapped": """
import ctypes, os
libc = ctypes.CDLL(None)
for _ in range(6):
    fd = os.memfd_create("x")
    os.posix_fallocate(fd, 0, 64 << 20)
    libc.mmap(None, 4096, 1, 1, fd, ctypes.c_long(0))
    os.close(fd)
""",
    "mapped privately": """
import ctypes, os
libc = ctypes.CDLL(None)
fd = os.memfd_create("x")
os.posix_fallocate(fd, 0, 384 << 20)
libc.mmap(None, 4096, 1, 2, fd, ctypes.c_long(0))
os.close(fd)
""",
    "let go of but not given back": """
import mmap
kept = mmap.mmap(-1, 384 << 20)
for place in range(0, len(kept), 4096):
    kept[place] = 1
kept.madvise(mmap.MADV_DONTNEED)
""",
    "with a name for the mapping": """
import ctypes, mmap
kept = mmap.mmap(-1, 384 << 20)
for place in range(0, len(kept), 4096):
    kept[place] = 1
start = ctypes.addressof(ctypes.c_char.from_buffer(kept))
ctypes.CDLL(None).prctl(0x53564D41, 0, ctypes.c_long(start), ctypes.c_long(len(kept)), b"heap")
kept.madvise(mmap.MADV_DONTNEED)
""",
}


@pytest.mark.parametrize("code", rest_in_corpus(SHARED.values()), ids=SHARED)
def test_shared_memory_that_nothing_shows_is_found(code: str) -> None:
    with Inside(code, memory_bytes=1 << 30) as inside:
        inside.loaded()
        shown = inside.sandbox.memory()
        assert shown < LIMIT
        assert not inside.sandbox.hides((1 << 30) - shown)
        assert inside.sandbox.hides(LIMIT - shown)
        assert inside.sandbox.ended() is not None


SHOWN = {
    "many small pipes": "import os; kept = [os.pipe() for _ in range(480)]",
    "full sockets": """
import socket
kept = []
for _ in range(480):
    one, other = socket.socketpair()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
    one.setblocking(False)
    try:
        while True:
            one.send(b"x" * 65536)
    except BlockingIOError:
        kept.append(other)
""",
    "connections that nobody accepts": """
import socket
listener = socket.socket(socket.AF_UNIX)
listener.bind("\\0here")
listener.listen(4096)
for _ in range(300):
    with socket.socket(socket.AF_UNIX) as one:
        one.connect("\\0here")
        one.send(b"x" * 65536)
""",
    "tables of pages": """
import ctypes
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
for _ in range(64):
    start = libc.mmap(None, ctypes.c_long(1 << 30), 1, 0x4022, -1, ctypes.c_long(0))
    for place in range(start, start + (1 << 30), 2 << 20):
        ctypes.c_char.from_address(place).value
""",
    "many empty files": "for i in range(40000): open(f'/dev/shm/{i}', 'w').close()",
}
LEAST = {
    "many small pipes": 30 * MIB,
    "full sockets": 480 * MIB,
    "connections that nobody accepts": 300 * MIB,
    "tables of pages": 128 * MIB,
    "many empty files": 40 * MIB,
}


@pytest.mark.parametrize("what", rest_in_corpus(SHOWN))
def test_what_the_kernel_keeps_counts(what: str) -> None:
    if not detect_support().namespaces:
        pytest.skip("without namespaces it has neither files nor sockets of its own")
    with Inside("", memory_bytes=1 << 30) as idle:
        idle.loaded()
        least = idle.sandbox.memory()
    with Inside(SHOWN[what], memory_bytes=1 << 30) as inside:
        inside.loaded()
        assert inside.sandbox.memory() - least > 0.9 * LEAST[what]


def test_a_process_whose_first_thread_has_ended_counts_and_is_stopped() -> None:
    code = """
    import ctypes, os, threading, time
    if os.fork() == 0:
        def hold():
            taken = b"x" * (200 << 20)
            open("/dev/shm/held", "w").close()
            while True:
                pass
        threading.Thread(target=hold).start()
        ctypes.CDLL(None).syscall(60 if os.uname().machine == "x86_64" else 93, 0)
    """
    with Inside(code, memory_bytes=1 << 30) as inside:
        inside.loaded()
        child = inside.sandbox._members.look()[-1]
        assert until(lambda: _state(child) == "Z")
        assert until(lambda: inside.sandbox.memory() > 200 * MIB)
        assert not processes.at_rest(child)
        assert inside.sandbox.pause()
        assert until(lambda: processes.at_rest(child))
        threads = [int(path.name) for path in Path(f"/proc/{child}/task").iterdir()]
        assert until(lambda: sorted(map(_state, threads)) == ["T", "Z"])


def _state(thread: int) -> str:
    return Path(f"/proc/{thread}/stat").read_text().rpartition(")")[2].split()[0]


def test_honest_use_of_shared_memory_is_not_hidden() -> None:
    code = """
    import mmap, multiprocessing.shared_memory, os, socket
    kept = mmap.mmap(-1, 64 << 20)
    kept.write(bytes(64 << 20))
    fd = os.memfd_create("x")
    os.write(fd, bytes(16 << 20))
    block = multiprocessing.shared_memory.SharedMemory(create=True, size=16 << 20)
    block.buf[:] = bytes(16 << 20)
    one, other = socket.socketpair()
    socket.send_fds(one, [b"x"], [fd])
    """
    with Inside(code, memory_bytes=1 << 30) as inside:
        inside.loaded()
        shown = inside.sandbox.memory()
        assert shown < LIMIT
        assert not inside.sandbox.hides(LIMIT - shown)
        assert inside.sandbox.ended() is None


HOLDER = """
import os, socket, time
fd = os.memfd_create("x")
os.posix_fallocate(fd, 0, 384 << 20)
one, other = socket.socketpair()
socket.send_fds(one, [b"x"], [fd])
"""
HOLDERS = {
    "open": HOLDER,
    "in flight": HOLDER + "os.close(fd)",
    "mapped, beside a pipe": """
import mmap, time
kept = mmap.mmap(-1, 384 << 20)
kept.write(bytes(384 << 20))
""",
}


@pytest.mark.corpus
@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("suspect", [False, True])
def test_what_others_hold_is_never_laid_to_a_sandbox(suspect: bool, holder: str) -> None:
    code = "import os; fd = os.memfd_create('x')" if suspect else ""
    with Inside(code, memory_bytes=1 << 30) as inside:
        inside.loaded()
        shown = inside.sandbox.memory()
        waiting = HOLDERS[holder] + "\nprint(flush=True)\ntime.sleep(60)"
        with subprocess.Popen([sys.executable, "-c", waiting], stdout=subprocess.PIPE) as other:
            assert other.stdout is not None
            other.stdout.readline()
            try:
                if suspect and holder == "in flight":
                    with pytest.raises(MachineError, match="not by the submission"):
                        inside.sandbox.hides(LIMIT - shown)
                else:
                    assert not inside.sandbox.hides(LIMIT - shown)
            finally:
                other.kill()


def _meminfo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free_mib: int) -> None:
    file = tmp_path / "meminfo"
    lines = {"MemTotal": 8 << 20, "MemAvailable": free_mib << 10, "SwapFree": 0, "Shmem": 0}
    file.write_text("".join(f"{name}: {kib} kB\n" for name, kib in lines.items()))
    monkeypatch.setattr(hidden, "_MEMINFO", file)


def test_who_takes_the_machines_last_memory_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hidden, "_FREED_S", 0.1)
    _meminfo(tmp_path, monkeypatch, 4000)
    watch = HiddenMemory()
    assert not watch.short()
    _meminfo(tmp_path, monkeypatch, 100)
    assert watch.short()
    watch.blame(lambda: _meminfo(tmp_path, monkeypatch, 3900), 0)
    with pytest.raises(MachineError, match="100 MiB of memory left"):
        _meminfo(tmp_path, monkeypatch, 100)
        watch.blame(lambda: _meminfo(tmp_path, monkeypatch, 300), 0)
    assert not HiddenMemory().short()  # it had no more before


@pytest.mark.parametrize("looks", [2, 10**6])
def test_what_is_nobodys_for_a_moment_is_not_hidden(
    monkeypatch: pytest.MonkeyPatch, looks: int
) -> None:
    """Others that end give their memory back in their own time."""
    plain, seen = hidden._sums(), []

    def sums() -> dict[str, int]:
        seen.append(1)
        more = 1 << 40 if 1 < len(seen) <= 1 + looks else 0
        return {**plain, "Shmem": plain["Shmem"] + more}

    monkeypatch.setattr(hidden, "_sums", sums)
    monkeypatch.setattr(hidden, "_could_hide", lambda _: True)
    monkeypatch.setattr(hidden, "_SURE_S", 0.2)
    watch = HiddenMemory()
    assert (watch.beyond(1 << 39, [os.getpid()], 0) > 0) == (looks > 2)


def test_a_look_at_all_processes_that_finds_nothing_is_good_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain, now, looked = hidden._sums(), [100.0], list[float]()
    held = 0

    def held_by(pids: Iterable[int]) -> int:
        if list(pids) != [os.getpid()]:
            looked.append(now[0])
            now[0] += 0.04
            return held
        return 0

    sums = plain
    monkeypatch.setattr(hidden, "_sums", lambda: sums)
    monkeypatch.setattr(hidden, "_held_by", held_by)
    monkeypatch.setattr(hidden, "_could_hide", lambda _: True)
    monkeypatch.setattr(hidden.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(hidden.time, "sleep", lambda s: now.__setitem__(0, now[0] + s))
    watch = HiddenMemory()
    held = 1 << 40
    sums = {**plain, "Shmem": plain["Shmem"] + held}
    for _ in range(3):
        assert watch.beyond(1 << 30, [1], 0) == 0  # others have it
    assert len(looked) == 1
    sums = {**plain, "Shmem": plain["Shmem"] + 2 * held}
    now[0] += 0.41
    assert watch.beyond(1 << 30, [1], 0) > 0.9 * held
    assert len(looked) > 2


def test_processes_that_are_gone_hold_nothing() -> None:
    gone = 2**22 + 1
    assert processes.resident_bytes([gone]) == processes.hidden_bytes([gone]) == 0
    assert processes.sockets_bytes(gone) == 0
    assert not hidden._could_hide(gone)
    assert processes.status_bytes([os.getpid()], (b"VmRSS:",)) > MIB
