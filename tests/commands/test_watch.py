"""Files that are saved are noticed, however they are saved; and graded again, until Ctrl-C."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness.commands.watch
from harness.commands.watch import SavedFiles, _events
from harness.records.result import Result
from harness.sandbox import processes
from leaderboard.store import Store

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "solutions/vector-add/samples/naive.cu"


class Steps:
    """What happens between one look and the next, without an event; fails when nothing is left."""

    def __init__(self, *steps: Callable[[], object]) -> None:
        self.left = list(steps)

    def __iter__(self) -> Iterator[tuple[()]]:
        return self

    def __next__(self) -> tuple[()]:
        assert self.left, "waits for ever"
        self.left.pop(0)()
        return ()


def nothing() -> None: ...


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "mine.cu"
    path.write_text("one")
    return path


def _saved(path: Path, *steps: Callable[[], object]) -> list[Path]:
    steps = Steps(*steps, nothing)
    found = SavedFiles(lambda: [path], events=steps).wait()
    assert steps.left == [], "noticed too early"
    return found


def _replace(path: Path, text: str) -> None:
    other = path.with_suffix(".new")
    other.write_text(text)
    other.replace(path)


def test_a_file_written_in_place_is_reported(path: Path) -> None:
    assert _saved(path, nothing, lambda: path.write_text("two")) == [path]


def test_a_file_replaced_by_a_rename_is_reported(path: Path) -> None:
    assert _saved(path, lambda: _replace(path, "two")) == [path]


def test_a_file_removed_and_written_anew_is_reported(path: Path) -> None:
    assert _saved(path, path.unlink, nothing, nothing, lambda: path.write_text("two")) == [path]


def test_a_file_that_is_still_being_written_is_not_reported(path: Path) -> None:
    def more() -> None:
        with path.open("a") as file:
            file.write("more")

    assert _saved(path, lambda: path.write_text(""), more, more) == [path]


def test_a_change_with_the_same_size_and_date_is_reported(path: Path) -> None:
    def sly() -> None:
        before = path.stat()
        path.write_text("two")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert _saved(path, sly) == [path]


def test_a_save_with_the_same_contents_is_not_reported(path: Path) -> None:
    def touch() -> None:
        os.utime(path, ns=(1, 1))

    steps = Steps(touch, nothing, lambda: _replace(path, "one"), nothing, path.unlink, nothing)
    steps.left += [lambda: path.write_text("one"), nothing, lambda: path.write_text("two"), nothing]
    assert SavedFiles(lambda: [path], events=steps).wait() == [path]
    assert steps.left == []


def test_a_record_of_json_lines_is_reported_by_itself(tmp_path: Path) -> None:
    file = tmp_path / "samples.jsonl"
    file.write_text('{"code": "a"}\n{"code": "b"}\n')
    records = [Path(f"{file}:{number}") for number in (1, 2)]
    steps = Steps(lambda: file.write_text('{"code": "a"}\n{"code": "c"}\n'), nothing)
    assert SavedFiles(lambda: records, events=steps).wait() == [records[1]]


def test_a_change_between_two_waits_is_reported(path: Path) -> None:
    saved = SavedFiles(lambda: [path], events=Steps(nothing, nothing))
    path.write_text("two")
    assert saved.wait() == [path]
    saved.forget(path)
    assert saved.wait() == [path]


def test_new_files_are_reported_and_unchanged_ones_are_not(tmp_path: Path, path: Path) -> None:
    (tmp_path / "other.cu").write_text("other")
    new = tmp_path / "new.cu"
    steps = Steps(lambda: new.write_text("new"), nothing, lambda: path.write_text("2"), nothing)
    saved = SavedFiles(lambda: sorted(tmp_path.glob("*.cu")), events=steps)
    assert saved.wait() == [new]
    assert saved.wait() == [path]


def test_links_and_pipes_are_not_opened(tmp_path: Path, path: Path) -> None:
    pipe, link, folder = (tmp_path / name for name in ("pipe.cu", "link.cu", "folder.cu"))
    os.mkfifo(pipe)
    link.symlink_to(path)
    folder.mkdir()
    strange = [pipe, link, folder, tmp_path / "none.cu", tmp_path / "nul\0.cu", path]
    steps = Steps(lambda: path.write_text("two"), nothing)
    assert SavedFiles(lambda: strange, events=steps).wait() == [path]


def _save_later(*saves: Callable[[], object]) -> threading.Thread:
    """Does them one after the other, once somebody waits for it."""

    def save() -> None:
        for each in saves:
            time.sleep(0.7)
            each()

    thread = threading.Thread(target=save)
    thread.start()
    return thread


@pytest.mark.corpus
def test_each_way_to_save_causes_an_event(tmp_path: Path, path: Path) -> None:
    new = tmp_path / "new.cu"
    saved = SavedFiles(lambda: sorted(tmp_path.glob("*.cu")))
    for save, expected in (
        (lambda: path.write_text("two"), path),
        (lambda: _replace(path, "three"), path),
        (lambda: new.write_text("new"), new),
    ):
        thread = _save_later(save)
        assert saved.wait() == [expected]
        thread.join()


def test_an_event_counts_once_changes_have_settled(path: Path) -> None:
    def twice() -> None:
        path.write_text("half")
        time.sleep(0.01)
        path.write_text("whole")

    told = []

    def events() -> Iterator[set[str]]:
        for each in _events([path.parent]):
            if each:
                told.append(path.read_text())
                yield {"changed"}

    saved = SavedFiles(lambda: [path], events=events())
    thread = _save_later(twice, twice)
    assert saved.wait() == [path]
    thread.join()
    assert told == ["whole"]


@pytest.mark.corpus
def test_a_change_without_an_event_is_found(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    def none_left(*_: object, **__: object) -> Iterator[set[str]]:
        raise OSError("no watches left")
        yield

    monkeypatch.setattr(harness.commands.watch, "watch", none_left)
    saved = SavedFiles(lambda: [path])
    thread = _save_later(lambda: path.write_text("two"))
    assert saved.wait() == [path]
    thread.join()


@given(st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=6))
def test_any_sequence_of_saves_is_reported(texts: list[str]) -> None:
    """Each save that settles is told of once, if it changed anything."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mine.py"
        path.write_text("")
        saves = [lambda text=text: _replace(path, text) for text in texts]
        steps = Steps(*(step for save in saves for step in (save, nothing)))
        saved = SavedFiles(lambda: [path], events=steps)
        told = []
        changes = [
            text for before, text in zip(["", *texts], texts, strict=False) if text != before
        ]
        for _ in changes:
            assert saved.wait() == [path]
            told.append(path.read_text())
        assert told == changes


def _listen() -> None:
    """What a shell starts in the background is told to ignore Ctrl-C, and so is all below it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Watching:
    """A command that watches, in a process of its own."""

    def __init__(self, folder: Path, *words: str) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
        self.errors = folder / "stderr"
        self.results = folder / "stdout"
        with self.errors.open("wb") as errors, self.results.open("wb") as results:
            self.process = subprocess.Popen(
                [sys.executable, "-c", "from harness.cli import main; main()", *words, "--watch"],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=results,
                stderr=errors,
                preexec_fn=_listen,
            )

    def until(self, times: int, words: str = "waiting for changes") -> list[str]:
        """Wait until ``words`` were said so often; the verdicts up to then."""
        deadline = time.monotonic() + 300  # tells a hang
        while self.errors.read_text().count(words) < times:
            assert self.process.poll() is None, self.errors.read_text()
            assert time.monotonic() < deadline, self.errors.read_text()
            time.sleep(0.05)
        lines = self.results.read_text().splitlines()
        return [line.split()[0] for line in lines if "vector-add" in line and "·" in line]


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[Callable[..., Watching]]:
    started: list[Watching] = []

    def start(*words: str) -> Watching:
        started.append(Watching(tmp_path, *words))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
        each.process.wait()


def _end(watch: Watching) -> None:
    """By Ctrl-C, after which nothing that it had started is left."""
    below = processes.descendants(watch.process.pid)
    watch.process.send_signal(signal.SIGINT)
    assert watch.process.wait(60) == 130
    assert watch.errors.read_text().endswith("interrupted\n")
    deadline = time.monotonic() + 20
    while left := [pid for pid in below if Path(f"/proc/{pid}").exists()]:
        assert time.monotonic() < deadline, left
        time.sleep(0.02)


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "solutions/vector-add/me/mine.cu"
    path.parent.mkdir(parents=True)
    path.write_text(SAMPLE.read_text())
    return path


PLACES = ["--problems", str(ROOT / "problems"), "--device", "cpu"]


@pytest.mark.corpus
def test_check_grades_each_save_until_ctrl_c(mine: Path, watching: Callable[..., Watching]) -> None:
    """Right, wrong by a rename, away and back with an error, right again; nothing stays behind."""
    good = SAMPLE.read_text()
    bad = good.replace("x[i] + y[i]", "x[i] - y[i]")
    watch = watching("check", str(mine), *PLACES, "--no-shrink")
    assert watch.until(1) == ["ACCEPTED"]
    _replace(mine, bad)
    assert watch.until(2)[-1] == "WRONG_ANSWER"
    mine.unlink()
    mine.write_text(good.replace("x[i] + y[i]", "x[i] + "))
    assert watch.until(3)[-1] == "COMPILE_ERROR"
    mine.write_text(good)
    assert watch.until(4)[-1] == "ACCEPTED"
    assert watch.errors.read_text().count(f"changed: {mine}") == 3
    _end(watch)


@pytest.mark.corpus
def test_each_save_is_recorded_and_runners_stay_started(
    tmp_path: Path, mine: Path, watching: Callable[..., Watching]
) -> None:
    lines, store = tmp_path / "results.jsonl", tmp_path / "results.sqlite"
    to = ["--json", str(lines), "--store", str(store), "--functional-times"]
    watch = watching("submit", str(mine.parent), *PLACES, *to)
    assert watch.until(1) == ["ACCEPTED"]
    first = [Result.from_json(line) for line in lines.read_text().splitlines()]
    before = set(processes.descendants(watch.process.pid))
    with mine.open("a") as file:
        file.write("// faster\n")
    assert watch.until(2) == ["ACCEPTED", "ACCEPTED"]
    both = [Result.from_json(line) for line in lines.read_text().splitlines()]
    assert both[:1] == first
    assert both[0].solution.hash != both[1].solution.hash
    with Store.open(str(store)) as opened:
        assert list(opened.results()) == both
    # The baseline's runner is the one of the first round.
    assert before
    assert before <= set(processes.descendants(watch.process.pid))
    _end(watch)
