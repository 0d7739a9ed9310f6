"""The lock that keeps two timings off one card."""

import os
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import cast

import pytest

from harness.device.card_turns import alone
from harness.errors import MachineError

UUID = "12345678-aaaa-bbbb-cccc-123456789abc"
NAME = f"kernel-harness-gpu-{UUID}.lock"
SHARED = "kernel-harness-locks"
LONG_S = 60.0

HOLDER = """
import sys
from harness.device.card_turns import alone

def waiting(seconds):
    print("waiting", seconds, flush=True)

with alone(sys.argv[1], waiting) as turn:
    print("held", turn.waited_s, flush=True)
    sys.stdin.readline()
"""


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders of the test's own for temporary files and for the user's cache."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return temporary


class Holder:
    """Another process that takes the lock and holds it until it is released or killed."""

    def __init__(self, uuid: str = UUID) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, uuid],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def says(self) -> list[str]:
        assert self.process.stdout is not None
        return self.process.stdout.readline().split()

    def release(self) -> None:
        self.process.communicate("\n", timeout=LONG_S)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=LONG_S)


@pytest.fixture
def holder() -> Iterator[Callable[[], Holder]]:
    started: list[Holder] = []

    def start(uuid: str = UUID) -> Holder:
        started.append(Holder(uuid))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.kill()


def nobody(seconds: float) -> None:
    raise AssertionError(f"had to wait, {seconds} s so far")


class GivenUp(Exception):
    pass


def give_up(_: float) -> None:
    raise GivenUp


def is_free(uuid: str = UUID) -> bool:
    try:
        with alone(uuid, give_up):
            return True
    except GivenUp:
        return False


def test_a_free_lock_is_taken_at_once(places: Path) -> None:
    for _ in range(2):
        with alone(UUID, nobody) as turn:
            assert turn.waited_s == 0.0
    assert (places / SHARED / NAME).is_file()


def test_one_process_at_a_time_holds_the_lock(holder: Callable[[], Holder]) -> None:
    first = holder()
    assert first.says()[0] == "held"
    second = holder()
    assert second.says()[0] == "waiting"
    assert not is_free()
    first.release()
    while (said := second.says())[0] == "waiting":
        pass
    assert said[0] == "held"
    assert float(said[1]) > 0
    assert not is_free()
    second.release()
    assert is_free()


def test_the_lock_of_a_killed_holder_is_free(holder: Callable[[], Holder]) -> None:
    first = holder()
    assert first.says()[0] == "held"
    told: list[float] = []

    def waiting(seconds: float) -> None:
        told.append(seconds)
        first.kill()

    with alone(UUID, waiting) as turn:
        assert turn.waited_s >= told[0]
    assert len(told) >= 1


@pytest.mark.corpus
def test_waiting_is_called_at_once_and_again(holder: Callable[[], Holder]) -> None:
    first = holder()
    assert first.says()[0] == "held"
    told: list[float] = []

    def waiting(seconds: float) -> None:
        told.append(seconds)
        if len(told) == 3:
            first.release()

    with alone(UUID, waiting) as turn:
        pass
    assert told[1] >= told[0] + 1.0 and told[2] >= told[1] + 1.0
    assert turn.waited_s >= told[2]


def test_giving_up_leaves_nothing_held(holder: Callable[[], Holder]) -> None:
    first = holder()
    assert first.says()[0] == "held"
    assert not is_free()
    first.release()
    assert is_free()


def test_locks_of_other_cards_are_free() -> None:
    with alone(UUID, nobody), alone("another", nobody):
        pass


def test_uuids_with_and_without_prefix_share_a_lock(holder: Callable[[str], Holder]) -> None:
    first = holder(f"GPU-{UUID}")
    assert first.says()[0] == "held"
    assert not is_free(UUID)


def test_a_thread_may_enter_again(holder: Callable[[], Holder]) -> None:
    with alone(UUID, nobody):
        with alone(UUID, nobody) as turn:
            assert turn.waited_s == 0.0
        other = holder()
        assert other.says()[0] == "waiting"  # the inner one's end did not release it
    while other.says()[0] != "held":
        pass


def test_another_thread_waits() -> None:
    seen: list[bool] = []
    with alone(UUID, nobody):
        thread = threading.Thread(target=lambda: seen.append(is_free()))
        thread.start()
        thread.join(LONG_S)
    assert seen == [False]
    assert is_free()


def test_an_error_inside_releases() -> None:
    with pytest.raises(ZeroDivisionError), alone(UUID, nobody):
        raise ZeroDivisionError
    seen: list[bool] = []
    thread = threading.Thread(target=lambda: seen.append(is_free()))
    thread.start()
    thread.join(LONG_S)
    assert seen == [True]


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def test_lock_files_can_be_used_by_all_users(places: Path) -> None:
    with umask(0o077), alone(UUID, nobody):
        pass
    assert stat.S_IMODE((places / SHARED).stat().st_mode) == 0o1777
    assert stat.S_IMODE((places / SHARED / NAME).stat().st_mode) == 0o666
    assert [entry.name for entry in places.iterdir()] == [SHARED]


@pytest.mark.parametrize(
    "uuid", ["../../etc/passwd", "a/b\\c d\n\0é", "", ".", "x" * 5000, "-rf *"]
)
def test_file_names_of_odd_uuids_stay_in_the_folder(places: Path, uuid: str) -> None:
    with alone(uuid, nobody):
        pass
    files = list((places / SHARED).iterdir())
    assert len(files) == 2
    for file in files:
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
    places: Path, tmp_path: Path, prepare: Callable[[Path], None], holder: Callable[[], Holder]
) -> None:
    prepare(places)
    with alone(UUID, nobody):
        assert own_file(tmp_path).is_file()
        assert holder().says()[0] == "waiting"
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
    manager = cast(AbstractContextManager[float], alone(UUID, nobody))
    with pytest.raises(MachineError, match="TMPDIR"), manager:
        pass
