"""The files of locks: for all users of the machine, and safe from them."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.device.lock_files import lock_file
from harness.errors import MachineError

pytestmark = pytest.mark.usefixtures("places")

LOCK = "gpu-12345678-aaaa-bbbb-cccc-123456789abc"
NAME = f"kernel-harness-{LOCK}.lock"
SHARED = "kernel-harness-locks"


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def test_lock_files_can_be_used_by_all_users(places: Path) -> None:
    with umask(0o077):
        assert lock_file(LOCK) == places / SHARED / NAME
    assert stat.S_IMODE((places / SHARED).stat().st_mode) == 0o1777
    assert stat.S_IMODE((places / SHARED / NAME).stat().st_mode) == 0o666
    assert [entry.name for entry in places.iterdir()] == [SHARED]


@pytest.mark.parametrize(
    "uuid", ["../../etc/passwd", "a/b\\c d\n\0é", "", ".", "x" * 5000, "-rf *"]
)
def test_file_names_of_odd_uuids_stay_in_the_folder(places: Path, uuid: str) -> None:
    lock_file(f"gpu-{uuid}")
    (file,) = (places / SHARED).iterdir()
    assert file.name.startswith("kernel-harness-gpu-") and file.name.endswith(".lock")
    assert len(file.name) < 100
    assert file.name.isascii() and file.name.isprintable()


def own_file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "kernel-harness" / "locks" / NAME


def link_for_folder(places: Path) -> None:
    (places / "elsewhere").mkdir()
    (places / "elsewhere").chmod(0o1777)
    (places / SHARED).symlink_to(places / "elsewhere")


def dangling_link_for_folder(places: Path) -> None:
    (places / SHARED).symlink_to(places / "nowhere")


def file_for_folder(places: Path) -> None:
    (places / SHARED).write_text("")


def closed_folder(places: Path) -> None:
    (places / SHARED).mkdir(mode=0o755)


def _shared(places: Path) -> Path:
    (places / SHARED).mkdir()
    (places / SHARED).chmod(0o1777)
    return places / SHARED / NAME


def link_for_file(places: Path) -> None:
    (places / "precious").write_text("precious")
    _shared(places).symlink_to(places / "precious")


def dangling_link_for_file(places: Path) -> None:
    _shared(places).symlink_to(places / "nowhere")


def hard_link_for_file(places: Path) -> None:
    (places / "precious").write_text("precious")
    _shared(places).hardlink_to(places / "precious")


def pipe_for_file(places: Path) -> None:
    os.mkfifo(_shared(places))


def folder_for_file(places: Path) -> None:
    _shared(places).mkdir()


@pytest.mark.parametrize(
    "prepare",
    [
        link_for_folder,
        dangling_link_for_folder,
        file_for_folder,
        closed_folder,
        link_for_file,
        dangling_link_for_file,
        hard_link_for_file,
        pipe_for_file,
        folder_for_file,
    ],
)
def test_a_lock_file_that_cannot_be_shared_is_the_users_own(
    places: Path, tmp_path: Path, prepare: Callable[[Path], None]
) -> None:
    prepare(places)
    assert lock_file(LOCK) == own_file(tmp_path)
    assert own_file(tmp_path).is_file()
    assert not (places / "nowhere").exists()
    if (places / "precious").exists():
        assert (places / "precious").read_text() == "precious"
    if (places / "elsewhere").exists():
        assert list((places / "elsewhere").iterdir()) == []


def test_no_place_for_the_lock_is_a_machine_error(
    places: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file_for_folder(places)
    (tmp_path / "cache").write_text("")
    with pytest.raises(MachineError, match="TMPDIR"):
        lock_file(LOCK)
