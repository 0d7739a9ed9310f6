"""A judge of several cards behind the door, with judges that grade nothing."""

import asyncio
import logging
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from support import door_cards

import harness
from harness.door import connection

pytestmark = pytest.mark.corpus

ROOT = Path(__file__).parents[2]
WAIT_S = 120.0


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where the files are, and where their judges write down what they do."""
    folder = tmp_path_factory.mktemp("cards")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "_PROGRAM", door_cards.PROGRAM)
        patch.setenv("FAKE_PLACE", str(folder))
        patch.chdir(folder)
        yield folder


@pytest.fixture(scope="module")
def judge(place: Path) -> Iterator[harness.Judge]:
    with harness.Judge(cards="all", problems=ROOT / "problems") as judge:
        yield judge
    none_left(place)


def none_left(place: Path) -> None:
    """All judges that have written down that they began are gone."""
    deadline = time.monotonic() + WAIT_S
    for pid in started(place):
        while Path(f"/proc/{pid}").exists():
            assert time.monotonic() < deadline, "a judge is left"
            time.sleep(0.1)


def started(place: Path) -> list[str]:
    """The process ids of the judges that have written down that they began."""
    return [line.split()[-1] for line in (place / "started").read_text().splitlines()]


def files(place: Path, *names: str) -> list[Path]:
    """Files of those names, each of its own content, as paths below the current folder."""
    for name in names:
        (place / name).write_text(f'// {name}\nextern "C" void solution() {{}}\n')
    return [Path(name) for name in names]


def asked(place: Path) -> list[str]:
    """The files that judges were given, in that order."""
    found = place / "asked"
    return [line.split()[-1] for line in found.read_text().splitlines()] if found.exists() else []


def test_each_source_has_its_result_once(judge: harness.Judge, place: Path) -> None:
    names = [f"{number}.cu" for number in range(150)]
    results = list(judge.grade_many(files(place, *names), "vector-add"))
    assert sorted(each.number for each in results) == list(range(150))
    for each in results:
        assert each.solution.path == names[each.number]
        assert each.accepted
    assert judge._connection._life is not None
    assert judge._connection._life.judges == 2


def test_a_source_goes_to_a_free_card_while_another_is_at_work(
    judge: harness.Judge, place: Path
) -> None:
    endless, soon = files(place, "silent-1.cu", "soon.cu")
    with ThreadPoolExecutor(1) as pool:
        before = len(started(place))
        other = harness.Judge(cards="0,1", problems=ROOT / "problems")
        waiting = pool.submit(other.grade, endless, "vector-add")
        deadline = time.monotonic() + WAIT_S
        while "silent-1.cu" not in asked(place) or len(started(place)) < before + 2:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert other.grade(soon, "vector-add").accepted
        assert not waiting.done()
        other.close()
        with pytest.raises(harness.UsageError, match="closed"):
            waiting.result(WAIT_S)


def test_what_nobody_waits_for_any_more_keeps_no_card(judge: harness.Judge, place: Path) -> None:
    first, *rest = files(place, "a.cu", "silent-2.cu", "silent-3.cu", "silent-4.cu")
    results = judge.grade_many([first, *rest], "vector-add")
    assert next(results).accepted
    results.close()  # type: ignore[attr-defined]
    assert judge.grade(files(place, "b.cu")[0], "vector-add").accepted


def test_what_fails_twice_is_an_internal_error_and_the_others_go_on(
    judge: harness.Judge, place: Path
) -> None:
    names = ["die-1.cu", "c.cu", "die-once-d.cu", "sick-1.cu", "e.cu"]
    results = {
        names[each.number]: each for each in judge.grade_many(files(place, *names), "vector-add")
    }
    for name in names:
        fails = name in ("die-1.cu", "sick-1.cu")
        assert (results[name].verdict is harness.Verdict.INTERNAL_ERROR) == fails
        assert results[name].accepted == (not fails)
    assert "killed by SIGKILL" in results["die-1.cu"].message
    assert asked(place).count("die-1.cu") == 2


def test_a_wrong_problem_is_an_error_and_may_be_put_right(
    judge: harness.Judge, place: Path
) -> None:
    with pytest.raises(harness.ProblemError, match=r"problem\.md:3"):
        list(judge.grade_many(files(place, "f.cu", "wrong-1.cu"), "vector-add"))
    assert judge.grade(files(place, "g.cu")[0], "vector-add").accepted


@pytest.mark.parametrize(
    ("about", "words"),
    [({"problem": "vector-ad"}, "did you mean"), ({"dtype": "flaot16"}, "float16")],
)
def test_what_the_caller_does_wrong_is_an_exception(
    judge: harness.Judge, place: Path, about: dict[str, str], words: str
) -> None:
    (source,) = files(place, "h.cu")
    with pytest.raises(harness.UsageError, match=words):
        judge.grade(source, **{"problem": "vector-add", **about})


def test_the_async_twins(judge: harness.Judge, place: Path) -> None:
    async def main() -> None:
        sources = files(place, *(f"async-{number}.cu" for number in range(20)))
        together = await asyncio.gather(*(judge.agrade(each, "vector-add") for each in sources))
        assert [each.solution.path for each in together] == [str(each) for each in sources]
        numbers = [each.number async for each in judge.agrade_many(sources, "vector-add")]
        assert sorted(numbers) == list(range(20))

    asyncio.run(main())


def test_the_process_that_feeds_them_is_killed(judge: harness.Judge, place: Path) -> None:
    names = [f"slow-{number}.cu" for number in range(12)]
    results = judge.grade_many(files(place, *names), "vector-add")
    came = [next(results).number]
    life = judge._connection._life
    assert life is not None
    os.kill(life._process.pid, signal.SIGKILL)
    assert sorted(came + [each.number for each in results]) == list(range(12))


def test_a_card_that_is_left_out_is_logged_and_none_is_an_error(
    place: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("FAKE_CARD", "deaf")
    with (
        harness.Judge(cards=[0], problems=ROOT / "problems") as judge,
        caplog.at_level(logging.WARNING, "harness"),
        pytest.raises(harness.MachineError, match="no card is left; card 0: no context"),
    ):
        judge.grade(files(place, "i.cu")[0], "vector-add")
    assert [each.message for each in caplog.records] == [
        "card 0 is left out, as its judge failed twice: no context"
    ]


@pytest.mark.parametrize(
    ("names", "cards", "kind", "words"),
    [
        ("100 200", "all", harness.UsageError, "1 is Made-up 200"),
        ("100", "0,1", harness.UsageError, "there is no such card"),
        (" ", "all", harness.NoDeviceError, "no NVIDIA GPU"),
    ],
)
def test_cards_that_cannot_be_used(
    place: Path, monkeypatch: pytest.MonkeyPatch, names: str, cards: str, kind: Any, words: str
) -> None:
    monkeypatch.setenv("FAKE_NAMES", names)
    with harness.Judge(cards=cards) as judge, pytest.raises(kind, match=words):
        judge.grade(files(place, "j.cu")[0], "vector-add")
