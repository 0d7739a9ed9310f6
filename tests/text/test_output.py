"""Files are written whole or not at all."""

import errno
import os
import resource
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.commands import in_shell

from harness.errors import MachineError, UsageError
from harness.text import output
from harness.text.output import replacing, write_whole


@contextmanager
def _files_of_at_most(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "out.txt"
    path.write_text("old")
    return path


def test_the_old_file_is_whole_until_the_new_one_is(old: Path) -> None:
    with replacing(old) as file:
        file.write(b"new" * 10_000)
        file.flush()
        assert old.read_text() == "old"
    assert old.read_bytes() == b"new" * 10_000
    assert os.listdir(old.parent) == ["out.txt"]


def test_an_error_leaves_the_old_file_and_nothing_else(old: Path) -> None:
    with pytest.raises(KeyError), replacing(old) as file:
        file.write(b"new" * 10_000)
        raise KeyError
    assert old.read_text() == "old"
    assert os.listdir(old.parent) == ["out.txt"]


@pytest.mark.parametrize("size", [10, 100_000])
def test_a_file_that_does_not_fit_leaves_the_old_one(old: Path, size: int) -> None:
    limited, refused = _files_of_at_most(5), pytest.raises(MachineError)
    with refused as caught, limited:
        write_whole(old, "x" * size)
    told = str(caught.value)
    assert told.startswith(f"cannot write {old}: a process may not write a file so large")
    assert "the old file is unchanged; raise the limit: ulimit -f unlimited" in told
    assert old.read_text() == "old"
    assert os.listdir(old.parent) == ["out.txt"]


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    program = (
        "from harness.text.output import write_whole; from pathlib import Path\n"
        "write_whole(Path('d/out'), 'old')\n"
        "try: write_whole(Path('d/out'), 'x' * 200_000)\n"
        "except Exception as e: print(type(e).__name__, e)\n"
        "print(Path('d/out').read_text(), *Path('d').iterdir())"
    )
    script = f'mkdir d; mount -t tmpfs -o size=64k none d; {sys.executable} -c "{program}"'
    done = in_shell(script, tmp_path, mounts=True)
    assert done.stdout.splitlines() == [
        "MachineError cannot write d/out: no space left on its disk; the old file is unchanged; "
        "make room there, or name another place",
        "old d/out",
    ]


def test_a_device_is_written_to_directly() -> None:
    with pytest.raises(MachineError, match="cannot write /dev/full: no space left"):
        write_whole(Path("/dev/full"), "x")
    write_whole(Path("/dev/null"), "x")
    assert Path("/dev/null").is_char_device()


def test_a_pipe_is_written_to_directly(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE)
    write_whole(pipe, "through")
    assert reader.communicate(timeout=10)[0] == b"through"
    assert os.listdir(tmp_path) == ["pipe"]


def test_descriptors_are_shared_with_others(tmp_path: Path) -> None:
    program = "from harness.text.output import *; write_whole(Path('/dev/stdout'), 'two\\n')"
    done = in_shell(
        f'{{ echo one; {sys.executable} -c "{program}"; echo three; }} >> out', tmp_path
    )
    assert done.stderr == ""
    assert (tmp_path / "out").read_text() == "one\ntwo\nthree\n"


def test_links_stay(old: Path) -> None:
    (old.parent / "sub").mkdir()
    link, far = old.parent / "sub/link", old.parent / "far"
    link.symlink_to("../far")
    far.symlink_to(old)
    write_whole(link, "new")
    assert (link.is_symlink(), far.is_symlink(), old.read_text()) == (True, True, "new")
    dangling = old.parent / "dangling"
    dangling.symlink_to("sub/made")
    write_whole(dangling, "made")
    assert (old.parent / "sub/made").read_text() == "made"
    round_ = old.parent / "round"
    round_.symlink_to("round")
    with pytest.raises(UsageError, match="Too many levels"):
        write_whole(round_, "x")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_permissions_stay(old: Path, mode: int) -> None:
    old.chmod(mode)
    write_whole(old, "new")
    assert stat.S_IMODE(old.stat().st_mode) == mode


def test_a_new_file_is_as_open_as_others(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    write_whole(tmp_path / "new", "x")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("no/such", "No such file or directory"),
        (".", "Is a directory"),
        ("out.txt/below", "Not a directory"),
        ("x" * 300, "the name is too long; name another one"),
        ("nul\0", "no file has such a name"),
    ],
)
def test_a_wrong_name_is_the_users(old: Path, name: str, reason: str) -> None:
    with pytest.raises(UsageError, match=f"cannot write .*: {reason}"):
        write_whole(old.parent / name, "x")
    assert os.listdir(old.parent) == ["out.txt"]


def test_a_new_file_replaces_none(old: Path) -> None:
    with pytest.raises(UsageError, match="File exists"), replacing(old, new=True):
        pass
    other = old.parent / "other"
    with pytest.raises(UsageError, match="File exists"), replacing(other, new=True):
        other.write_text("somebody else's")
    assert other.read_text() == "somebody else's"
    with replacing(old.parent / "third", new=True) as file:
        file.write(b"mine")
    assert (old.parent / "third").read_text() == "mine"
    assert len(os.listdir(old.parent)) == 3


def test_what_a_killed_program_left_is_removed_and_no_living_ones(old: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path; from harness.text.output import replacing\n"
        "with replacing(Path(sys.argv[1])) as file:\n"
        "    file.write(b'x' * 100_000); print('there', flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, old], stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
    ) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        assert len(os.listdir(old.parent)) == 2
        write_whole(old, "mine")
        assert len(os.listdir(old.parent)) == 2
        writer.send_signal(signal.SIGKILL)
    assert old.read_text() == "mine"
    write_whole(old, "again")
    assert os.listdir(old.parent) == ["out.txt"]


@pytest.mark.parametrize("code", [errno.EBUSY, errno.EXDEV])
def test_a_file_that_is_mounted_by_itself_is_written_over(
    old: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def rename(_: Path, __: Path) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(Path, "rename", rename)
    inode = old.stat().st_ino
    write_whole(old, "n")
    assert (old.read_text(), old.stat().st_ino) == ("n", inode)
    assert os.listdir(old.parent) == ["out.txt"]


def test_a_folder_that_takes_no_file_may_have_one_that_can_be_written(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = output._locked_file

    def refuse(folder: Path) -> tuple[Path, int]:
        if folder == old.parent:
            raise PermissionError(errno.EACCES, "no")
        return made(folder)

    monkeypatch.setattr(output, "_locked_file", refuse)
    write_whole(old, "new")
    assert old.read_text() == "new"
    with pytest.raises(UsageError, match="permission denied; name another place"):
        write_whole(old.parent / "other", "new")
