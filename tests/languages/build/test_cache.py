import os
import threading
import time
from concurrent.futures import CancelledError, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from harness.errors import HarnessError, MachineError
from harness.languages.build.cache import BuildError, BuildOutcome, Cache, default_cache, key_of
from harness.records.build import KernelResources
from harness.records.result import Verdict
from harness.sandbox.pause_gate import PauseGate

KEY = key_of({"source": "x"})


class Builder:
    """Builds one file, and counts how often it is asked to."""

    def __init__(self, content: bytes = b"library", **outcome: object) -> None:
        self.calls = 0
        self.content = content
        self.outcome = outcome
        self.folder: Path | None = None

    def __call__(self, folder: Path) -> BuildOutcome:
        self.calls += 1
        self.folder = folder
        assert not list(folder.iterdir())
        if "failure" in self.outcome:
            return BuildOutcome(**self.outcome)  # type: ignore[arg-type]
        (folder / "out.so").write_bytes(self.content)
        return BuildOutcome(files={"library": folder / "out.so"}, **self.outcome)  # type: ignore[arg-type]


def test_a_miss_builds_and_a_hit_does_not(cache: Cache) -> None:
    kernels = (KernelResources(name="k", registers=32),)
    build = Builder(log="a warning", kernels=kernels, seconds=1.5)
    first = cache.fetch(KEY, build)
    second = cache.fetch(KEY, build)
    assert build.calls == 1
    assert (first.cached, second.cached) == (False, True)
    assert second.files["library"].read_bytes() == b"library"
    assert (second.log, second.kernels, second.seconds) == ("a warning", kernels, 1.5)
    assert build.folder is not None
    assert not build.folder.exists()


def test_what_was_built_ahead_is_new_to_the_first_who_asks(cache: Cache) -> None:
    build = Builder()
    assert not Cache(cache.root, ahead=True).fetch(KEY, build).cached
    assert [cache.fetch(KEY, build).cached for _ in range(2)] == [False, True]
    assert build.calls == 1
    assert Cache(cache.root, ahead=True).fetch(KEY, build).cached, "it was there before"


def test_a_failure_is_stored(cache: Cache) -> None:
    failure = BuildError(verdict=Verdict.COMPILE_ERROR, message="no")
    build = Builder(failure=failure, log="line 1")
    assert cache.fetch(KEY, build).failure == failure
    assert cache.fetch(KEY, build).failure == failure
    assert build.calls == 1


def test_a_time_limit_is_not_stored(cache: Cache) -> None:
    failure = BuildError(verdict=Verdict.TIME_LIMIT, message="slow")
    build = Builder(failure=failure, reusable=False)
    cache.fetch(KEY, build)
    cache.fetch(KEY, build)
    assert build.calls == 2


def test_a_cancelled_build_is_not_stored(cache: Cache) -> None:
    gate = PauseGate()

    def cut_short(folder: Path) -> BuildOutcome:
        gate.cancel()
        return BuildOutcome(failure=BuildError(verdict=Verdict.COMPILE_ERROR, message="killed"))

    with pytest.raises(CancelledError), gate.work():
        cache.fetch(KEY, cut_short)
    build = Builder()
    assert cache.fetch(KEY, build).failure is None
    assert build.calls == 1


def test_a_machine_error_is_not_stored(cache: Cache) -> None:
    def broken(folder: Path) -> BuildOutcome:
        raise MachineError("no compiler")

    with pytest.raises(MachineError):
        cache.fetch(KEY, broken)
    assert cache.fetch(KEY, Builder()).files


@pytest.mark.parametrize("damage", ["change", "remove", "entry", "truncate"])
def test_a_damaged_entry_is_built_again(cache: Cache, damage: str) -> None:
    build = Builder()
    library = cache.fetch(KEY, build).files["library"]
    library.chmod(0o755)
    if damage == "change":
        library.write_bytes(b"poisoned")
    elif damage == "remove":
        library.unlink()
    elif damage == "entry":
        (library.parent / "entry.json").write_text('{"files": {}}')
    else:
        (library.parent / "entry.json").write_text("")
    again = cache.fetch(KEY, build)
    assert build.calls == 2
    assert again.files["library"].read_bytes() == b"library"


def test_a_result_that_is_no_plain_file_is_not_taken(cache: Cache) -> None:
    def link(folder: Path) -> BuildOutcome:
        (folder / "out").symlink_to("/etc/passwd")
        return BuildOutcome(files={"library": folder / "out"})

    def pipe(folder: Path) -> BuildOutcome:
        os.mkfifo(folder / "out")
        return BuildOutcome(files={"library": folder / "out"})

    with pytest.raises(MachineError):
        cache.fetch(KEY, link)
    with pytest.raises(HarnessError):
        cache.fetch(KEY, pipe)


def test_threads_build_once(cache: Cache) -> None:
    started = threading.Barrier(8)
    build = Builder()

    def fetch(_: int) -> BuildOutcome:
        started.wait()
        return cache.fetch(KEY, build)

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(fetch, range(8)))
    assert build.calls == 1
    assert sorted(outcome.cached for outcome in outcomes) == [False] + [True] * 7


def _fetch_in_process(root: Path) -> bool:
    def build(folder: Path) -> BuildOutcome:
        time.sleep(0.2)
        (folder / "out").write_bytes(b"library")
        return BuildOutcome(files={"library": folder / "out"})

    outcome = Cache(root).fetch(KEY, build)
    assert outcome.files["library"].read_bytes() == b"library"
    return outcome.cached


def test_processes_build_once(cache: Cache) -> None:
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
        cached = list(pool.map(_fetch_in_process, [cache.root] * 4))
    assert sorted(cached) == [False, True, True, True]


def test_pruning_removes_what_was_unused_longest(tmp_path: Path) -> None:
    cache = Cache(tmp_path, max_bytes=25_000)
    keys = [key_of({"n": str(n)}) for n in range(4)]
    now = time.time()
    for age, key in enumerate(keys):
        folder = cache.fetch(key, Builder(b"x" * 10_000)).files["library"].parent
        os.utime(folder, (now - 10_000 - age, now - 10_000 - age))
    cache.prune()
    left = [cache.fetch(key, Builder()).cached for key in keys]
    assert left == [True, True, False, False]


def test_pruning_spares_what_may_be_in_use(tmp_path: Path) -> None:
    cache = Cache(tmp_path, max_bytes=0)
    library = cache.fetch(KEY, Builder()).files["library"]
    cache.prune()
    assert library.exists()


def test_a_cache_that_cannot_be_written_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MachineError, match="HARNESS_CACHE"):
        Cache(tmp_path / "file" / "cache").fetch(KEY, Builder())


def test_no_two_sets_of_parts_share_a_key() -> None:
    assert key_of({"a": "bc"}) != key_of({"ab": "c"})
    assert key_of({"a": "b", "c": "d"}) != key_of({"a": "b\nc 1\nd"})
    assert key_of({"a": "x"}) == key_of({"a": b"x"})


def test_the_folder_of_the_default_cache(tmp_path: Path) -> None:
    assert default_cache({"HARNESS_CACHE": str(tmp_path)}).root == tmp_path / "builds"
    assert default_cache({}).root.parent.name == "kernel-harness"
