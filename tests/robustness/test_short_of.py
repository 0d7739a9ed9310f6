"""A machine that is short of something: named with its remedy, never a fault of the harness."""

import errno
import os
import sqlite3
import subprocess
from pathlib import Path

import pytest
from support.commands import ROOT, in_shell, words

from harness.errors import MachineError, UsageError
from harness.sandbox import support
from harness.text.system_errors import cannot_write, system_fault

pytestmark = pytest.mark.corpus

BOARD = sorted((ROOT / "leaderboard/boards").glob("*.jsonl"))[0]
SAMPLE = ROOT / "solutions/vector-add/samples/naive.cu"


def _err(script: str, folder: Path, status: int = 3, mounts: bool = False) -> str:
    places = {"HARNESS_PROBLEMS": str(ROOT / "problems")}
    done = in_shell(script, folder, mounts=mounts, variables=places)
    assert done.returncode == status, done
    assert "internal error" not in done.stderr
    assert "Traceback" not in done.stderr
    return str(done.stdout + done.stderr)


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        ("-n 24", "a process may have 24 open files here, and grading needs 64: raise the limit"),
        ("-n 40", "(ulimit -n 1024)"),
        ("-f 16", "may write files of 16 KiB here, and grading needs 64 MiB: raise the limit"),
        ("-f 0", "(ulimit -f unlimited)"),
    ],
)
@pytest.mark.parametrize("command", ["check", "submit", "verify"])
def test_small_limits(tmp_path: Path, limit: str, told: str, command: str) -> None:
    given = [] if command == "verify" else [SAMPLE, "--device", "cpu"]
    assert told in _err(f"ulimit {limit}; {words(command, *given)}", tmp_path)


def test_files_that_may_not_grow(tmp_path: Path) -> None:
    script = f"ulimit -f 16; {words('import', BOARD, '--store', 's.sqlite')}"
    assert "raise the limit: ulimit -f unlimited" in _err(script, tmp_path)
    assert _err(f"{words('import', BOARD, '--store', 't.sqlite')}", tmp_path, 0)
    (tmp_path / "out").write_text("old")
    script = f"ulimit -f 64; {words('export', '--out', 'out', '--store', 't.sqlite')}"
    assert "raise the limit: ulimit -f unlimited" in _err(script, tmp_path)
    assert (tmp_path / "out").read_text() == "old"


def test_no_further_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    # It says nothing about the sandboxes that this machine allows.
    support._detected.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "run", refuse)
        with pytest.raises(MachineError, match=r"no further process .*ulimit -u"):
            support.detect_support()
    assert support.detect_support() is not None


def test_a_current_folder_that_is_gone(tmp_path: Path) -> None:
    for command in (["check", SAMPLE], ["leaderboard"], ["problems"]):
        script = f"mkdir gone; cd gone; rmdir ../gone; {words(*command)}"
        assert "error: the current folder is gone" in _err(script, tmp_path)


def test_a_name_that_is_too_long(tmp_path: Path) -> None:
    name = "x" * 300
    for command in (["problems", "show", name], ["problems", "--problems", name], ["verify", name]):
        assert "x" * 80 in _err(words(*command), tmp_path, 2)


@pytest.mark.parametrize("size", ["180000", "190000"])
def test_a_full_disk_for_temporary_files(tmp_path: Path, size: str) -> None:
    script = (
        f"mkdir full; mount -t tmpfs -o size=200k none full; head -c {size} /dev/zero > full/fill\n"
        f"TMPDIR=$PWD/full HARNESS_CACHE=$PWD/cache {words('check', SAMPLE, '--device', 'cpu')}"
    )
    told = _err(script, tmp_path, mounts=True)
    assert "no space left on " in told
    assert "make room" in told
    assert "COMPILE_ERROR" not in told


def test_a_full_disk_for_the_store_and_the_cache(tmp_path: Path) -> None:
    full = "mkdir full; mount -t tmpfs -o size=64k none full;"
    script = f"{full} {words('import', BOARD, '--store', 'full/s.sqlite')}"
    assert "full: make room there, or name another store" in _err(script, tmp_path, mounts=True)
    (tmp_path / "full").rmdir()
    check = words("check", SAMPLE, "--device", "cpu", "--no-shrink")
    told = _err(f"{full} HARNESS_CACHE=full {check}", tmp_path, mounts=True)
    assert "no space left on its disk" in told
    assert "HARNESS_CACHE" in told


def test_a_store_on_a_read_only_disk_is_read(tmp_path: Path) -> None:
    script = (
        "mkdir d; mount -t tmpfs none d\n"
        f"{words('import', BOARD, '--store', 'd/s.sqlite')}\n"
        f"{words('export', '--out', 'before.jsonl', '--store', 'd/s.sqlite')}\n"
        "mount -o remount,ro d\n"
        f"{words('leaderboard', '--csv', 'a.csv', '--store', 'd/s.sqlite')} || exit 9\n"
        f"{words('export', '--out', 'a.jsonl', '--store', 'd/s.sqlite')} || exit 8\n"
        f"{words('import', BOARD, '--store', 'd/s.sqlite')}"
    )
    told = _err(script, tmp_path, mounts=True)
    assert "d/s.sqlite is on a read-only file system: copy it to where you may write" in told
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "before.jsonl").read_bytes()
    assert (tmp_path / "a.csv").read_text().count("\n") > 1


def test_what_a_writer_left_in_the_log_is_read_too(tmp_path: Path) -> None:
    """A copy of a store that was in use: its last results are in the -wal alone."""
    from support.samples import result

    from leaderboard.store import Store

    (tmp_path / "copy").mkdir()
    with Store.open(str(tmp_path / "s.sqlite")) as store:
        store.add(result(id="one"))
        keeper = sqlite3.connect(tmp_path / "s.sqlite")  # whoever closes last writes the log back
        keeper.execute("SELECT count(*) FROM results").fetchone()
        store.add(result(id="two"))
        script = (
            "mkdir d; mount -t tmpfs none d; cp s.sqlite* d; mount -o remount,ro d\n"
            f"{words('export', '--out', 'a.jsonl', '--store', 'd/s.sqlite')}"
        )
        _err(script, tmp_path, 0, mounts=True)
        keeper.close()
    assert '"two"' in (tmp_path / "a.jsonl").read_text()


@pytest.mark.parametrize(
    ("error", "kind", "told"),
    [
        (OSError(errno.ENOSPC, "", "/a/b"), MachineError, "/a/b: no space left"),
        (OSError(errno.EDQUOT, "", "/a/b"), MachineError, "/a/b: the quota"),
        (OSError(errno.EMFILE, "", "/a/b"), MachineError, "ulimit -n"),
        (OSError(errno.ENFILE, "", "/a/b"), MachineError, "too many open files"),
        (BlockingIOError(errno.EAGAIN, ""), MachineError, "ulimit -u"),
        (RuntimeError("can't start new thread"), MachineError, "ulimit -u"),
        (OSError(errno.ENOMEM, ""), MachineError, "no memory left"),
        (MemoryError(), MachineError, "no memory left"),
        (
            RuntimeError("CUDA out of memory. Tried to allocate 5.59 GiB. GPU 0 has a total …"),
            MachineError,
            "nvidia-smi",
        ),
        (RuntimeError("CUDA error: out of memory\nCUDA kernel errors …"), MachineError, "GPU"),
        (OSError(errno.EFBIG, "", "/a/b"), MachineError, "ulimit -f"),
        (OSError(errno.EROFS, "", "/a/b"), MachineError, "/a/b: it is on a read-only"),
        (PermissionError(errno.EACCES, "", "/a\x1b"), MachineError, r"/a\x1b: permission denied"),
        (OSError(errno.ENAMETOOLONG, "", "x" * 999), UsageError, "the name is too long"),
        (FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']"),
         MachineError, "name one with TMPDIR"),
        (ImportError("libtorch.so: cannot open shared object file: Too many open files"),
         MachineError, "ulimit -n"),
    ],
)  # fmt: skip
def test_what_the_system_refuses_is_named(
    error: Exception, kind: type[Exception], told: str
) -> None:
    fault = system_fault(error)
    assert type(fault) is kind
    assert told in str(fault)
    if isinstance(error, OSError) and error.errno != errno.ENOENT:
        assert told.rpartition(": ")[2] in str(cannot_write("x", error))


@pytest.mark.parametrize("error", [FileNotFoundError(errno.ENOENT, "", "x"), ValueError("x")])
def test_a_fault_of_ours_stays_one(error: Exception) -> None:
    assert system_fault(error) is None
