"""Judges in Ray's own cluster of several nodes on this machine, whatever dies.

``CLUSTER_JOBS=200`` makes the run of deaths as long as that.
"""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.judged_files import FAKE, Shown, work
from support.ray_nodes import add_node, require_none_left, started_nodes

from harness.errors import MachineError
from harness.grading.cards import Cards
from harness.grading.cluster import open_cluster
from harness.grading.cluster_room import Wanted
from harness.grading.dispatch import Dispatch
from harness.grading.job import Completed
from harness.problem.package import Problem
from harness.progress.progress import NoProgress, Progress
from harness.records.result import Result, Verdict
from leaderboard.store import Store

ray = pytest.importorskip("ray", reason="needs Ray: pip install -e '.[cluster]'")

pytestmark = [pytest.mark.corpus, pytest.mark.filterwarnings("ignore")]

JOBS = int(os.environ.get("CLUSTER_JOBS", "48"))
ROOT = Path(__file__).parents[2]
Open = Callable[..., Cards]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where judges that grade nothing write down what they do."""
    return tmp_path_factory.mktemp("cluster")


@pytest.fixture(scope="module")
def nodes(place: Path) -> Iterator[Any]:
    """A head without processors and two nodes with a judge each, on loopback."""
    with started_nodes(place) as cluster:
        yield cluster


@pytest.fixture
def opened(nodes: Any, place: Path) -> Iterator[Open]:
    """Opens judges that grade nothing in the cluster; none of their processes may be left."""

    def open_in(progress: Progress | None = None, **more: Any) -> Cards:
        wanted = Wanted(address=nodes.address, judges=2, program=FAKE, **more)
        return open_cluster("auto", wanted, progress or NoProgress(), told.append)

    told: list[str] = []
    yield open_in
    assert all(line.startswith("waiting") for line in told)
    require_none_left(place)


def test_each_file_has_its_result_once_from_any_node(opened: Open, shift: Problem) -> None:
    shown = Shown()
    with opened(shown) as cards:
        assert cards.device.label == "cpu (Made-up 100)"
        for count in (12, 1):
            files = work(shift, *(f"{number}.cu" for number in range(count)))
            done = list(cards.outcomes(files))
            assert Counter(each.work.job.path for each in done) == Counter(
                each.job.path for each in files
            )
            assert all(isinstance(each, Completed) for each in done)
    assert "12/12" in shown.told
    assert any(line.startswith("place ") for line in shown.told)
    assert not ray.is_initialized()


def test_what_fails_twice_is_an_internal_error_that_says_why(opened: Open, shift: Problem) -> None:
    names = ["a.cu", "die-1.cu", "b.cu", "liar.cu", "c.cu", "die-once-d.cu", "e.cu"]
    with opened() as cards:
        done = {
            each.work.job.path: each.result
            for each in cards.outcomes(work(shift, *names))
            if isinstance(each, Completed)
        }
    assert set(done) == set(names)
    for name in ("die-1.cu", "liar.cu"):
        assert done[name].verdict is Verdict.INTERNAL_ERROR
        assert done[name].message.startswith("not graded: ")
        assert "twice" in done[name].message
    assert "killed by SIGKILL" in done["die-1.cu"].message
    assert "on node 127.0.0.2" in done["die-1.cu"].message
    assert "another file, problem or device" in done["liar.cu"].message
    for name in ("a.cu", "b.cu", "c.cu", "die-once-d.cu", "e.cu"):
        assert done[name].verdict is Verdict.ACCEPTED


def test_a_file_that_is_never_begun_is_tried_no_more_than_four_times(
    opened: Open, shift: Problem
) -> None:
    with opened() as cards:
        done = {
            each.work.job.path: each.result
            for each in cards.outcomes(work(shift, "a.cu", "ghost.cu", "b.cu"))
            if isinstance(each, Completed)
        }
    assert done["ghost.cu"].verdict is Verdict.INTERNAL_ERROR
    assert "nobody asked for it (4 times" in done["ghost.cu"].message
    assert done["a.cu"].verdict is done["b.cu"].verdict is Verdict.ACCEPTED


def test_a_second_result_of_the_same_file_is_none(opened: Open, shift: Problem) -> None:
    # Its judge is ended, which costs the file that comes next one try.
    names = ["a.cu", "twice.cu", "b.cu", "c.cu", "d.cu", "e.cu"]
    with opened() as cards:
        done = [e.result for e in cards.outcomes(work(shift, *names)) if isinstance(e, Completed)]
    assert Counter(each.solution.path for each in done) == Counter(names)
    assert all(each.verdict is Verdict.ACCEPTED for each in done)


def test_nodes_and_actors_that_die_cost_a_second_try_and_nothing_else(
    opened: Open,
    nodes: Any,
    shift: Problem,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    draw = random.Random(7)
    begun = _noted_as_begun(monkeypatch)
    names = [f"slow-{number}.cu" for number in range(JOBS)]
    deaths: list[str] = []
    began = time.monotonic()
    (place / "asked").write_text("")
    with opened() as cards:
        done = []
        for outcome in cards.outcomes(work(shift, *names)):
            done.append(outcome)
            if len(done) % (JOBS // 6) == JOBS // 12:
                deaths.append(draw.choice(["node", "actor", "judge"]) if deaths else "node")
                _kill(deaths[-1], nodes, place, draw)
    seconds = time.monotonic() - began
    assert capsys.readouterr().out == ""  # which is for results alone
    asked = Counter(line.split()[-1] for line in (place / "asked").read_text().splitlines())
    print(
        f"{len(done)} results of {JOBS} jobs in {seconds:.0f} s; deaths: {dict(Counter(deaths))}; "
        f"{sum(asked.values()) - JOBS} more tries, {max(asked.values())} of one job at most"
    )
    results = [each.result for each in done if isinstance(each, Completed)]
    assert Counter(each.solution.path for each in results) == Counter(names)
    assert len({each.id for each in results}) == JOBS
    # Whose judges died twice by chance is named, and was not tried a third time. (A judge that was
    # killed before it took up its file has not asked for it.)
    unlucky = [e for e in results if e.verdict is not Verdict.ACCEPTED]
    assert all("twice" in each.message for each in unlucky)
    assert len(unlucky) <= len(deaths) // 2
    given_up = {each.solution.path for each in unlucky}  # which is an order, too
    assert max(begun[n] - (name in given_up) for n, name in enumerate(names)) <= 2
    # What a machine begins just before it is lost is not heard of, and is tried once more.
    unheard = sum(max(0, tries - 2) for tries in asked.values())
    assert unheard <= sum(death != "judge" for death in deaths)


def _noted_as_begun(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """How often each job was begun, as far as that is heard."""
    begun: Counter[int] = Counter()
    plain = Dispatch.begun

    def noted(jobs: Dispatch, card: int, job: int) -> None:
        begun[job] += 1
        plain(jobs, card, job)

    monkeypatch.setattr(Dispatch, "begun", noted)
    return begun


def _kill(what: str, nodes: Any, place: Path, draw: random.Random) -> None:
    if what == "node":
        nodes.remove_node(draw.choice(nodes.list_all_nodes()[1:]), allow_graceful=False)
        add_node(nodes)
        return
    pids = [int(line.split()[-1]) for line in (place / "started").read_text().splitlines()]
    alive = [pid for pid in pids if Path(f"/proc/{pid}").exists()]
    if alive:
        judge = draw.choice(alive)
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has gone since
            status = Path(f"/proc/{judge}/status").read_text()
            actor = int(status.partition("PPid:")[2].split()[0])
            os.kill(actor if what == "actor" else judge, signal.SIGKILL)


def test_a_node_with_other_code_gets_no_work(
    nodes: Any, shift: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.grading.cluster.code_hash", lambda: "0" * 64)
    wanted = Wanted(address=nodes.address, judges=1, program=FAKE)
    told: list[str] = []
    with (
        pytest.raises(MachineError, match="another version of the harness: install the same"),
        open_cluster("auto", wanted, NoProgress(), told.append) as cards,
    ):
        list(cards.outcomes(work(shift, "a.cu")))
    assert not ray.is_initialized()


def test_a_node_that_needs_no_token_gets_no_work_beyond_loopback(
    nodes: Any, shift: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.grading.cluster.on_loopback", lambda _: False)
    monkeypatch.setattr("harness.grading.cluster.require_token", lambda: None)
    wanted = Wanted(address=nodes.address, judges=1, program=FAKE)
    told: list[str] = []
    with (
        pytest.raises(MachineError, match=r"127\.0\.0\.2 .* its token authentication is off"),
        open_cluster("auto", wanted, NoProgress(), told.append) as cards,
    ):
        list(cards.outcomes(work(shift, "a.cu")))


BEYOND = """
import sys
from ray.cluster_utils import Cluster
for _ in range(9):
    try:
        head = {"num_cpus": 2, "object_store_memory": 80 << 20, "include_dashboard": False}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        break
    except Exception:
        pass
print("at", cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""


def test_beyond_loopback_a_token_opens_the_cluster(tmp_path: Path) -> None:
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "a" * 40}
    environment = {**os.environ, "HOME": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", BEYOND],
        env=environment | token,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as cluster:
        assert cluster.stdout is not None
        address = next(line for line in cluster.stdout if line.startswith("at ")).split()[1]
        command = [sys.executable, "-m", "harness", "check", "--cluster", address, "--json", "-"]
        command += ["solutions/vector-add/samples/naive.cu", "--no-shrink"]

        def check(**more: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                command, env=environment | more, cwd=ROOT, capture_output=True, text=True
            )

        try:
            opened = check(**token)
            closed = check(RAY_AUTH_MODE="disabled")
            wrong = check(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN="b" * 40)
        finally:
            cluster.communicate()
    assert opened.returncode == 0, opened.stderr
    assert Result.from_json(opened.stdout).verdict is Verdict.ACCEPTED
    assert closed.returncode == 3
    assert "RAY_AUTH_MODE=token" in closed.stderr
    assert wrong.returncode == 3
    assert "a" * 40 not in opened.stdout + opened.stderr


def test_a_cluster_that_is_not_there_is_told_with_the_remedy() -> None:
    with pytest.raises(MachineError, match="ray status"):
        open_cluster("auto", Wanted(address="127.0.0.1:9"), NoProgress(), print)
    assert not ray.is_initialized()


def test_an_interrupt_ends_all_judges(opened: Open, shift: Problem) -> None:
    with pytest.raises(KeyboardInterrupt), opened() as cards:
        for _ in cards.outcomes(work(shift, "a.cu", "b.cu", "silent-1.cu", "silent-2.cu")):
            raise KeyboardInterrupt
    assert not ray.is_initialized()


def _submit(nodes: Any, folder: Path, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "harness", "submit", str(folder / "files")),
            *("--cluster", nodes.address, "--store", str(folder / "results.sqlite"), *more),
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_packages_are_verified_in_the_cluster(nodes: Any) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "harness", "verify", "vector-add", "softmax", "--json"),
            *("--cluster", nodes.address, "--grades", "1", "--no-examples", "--no-impostors"),
            *("--dtype", "float32", "--seed", "7"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    reports = json.loads(done.stdout)
    assert [(each["slug"], each["seed"]) for each in reports] == [
        ("vector-add", "7"),
        ("softmax", "7"),
    ]
    assert all(each["variants"] and not each["errors"] for each in reports)
    assert ROOT.as_posix() not in done.stderr


def test_a_real_run_is_killed_and_resumed(nodes: Any, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    source = (ROOT / "solutions/vector-add/samples/naive.cu").read_text()
    for number in range(6):
        (folder / f"{number}.cu").write_text(f"// {number}\n{source}")
    first = _submit(nodes, tmp_path, "--problem", "vector-add")
    assert first.stdout is not None
    assert "ACCEPTED" in first.stdout.readline()
    first.kill()
    first.communicate()
    again = _submit(nodes, tmp_path, "--problem", "vector-add", "--resume")
    told, errors = again.communicate(timeout=500)
    assert again.returncode == 0, errors
    assert "recorded already" in errors
    assert told.count("ACCEPTED") + errors.count("recorded already: ") == 6
    with Store.open(str(tmp_path / "results.sqlite")) as store:
        results: list[Result] = list(store.results())
    assert Counter(Path(each.solution.path).name for each in results) == Counter(
        f"{number}.cu" for number in range(6)
    )
