"""The caller's side of the door, beside a process that judges nothing."""

import asyncio
import gc
import itertools
import json
import os
import pickle
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from support import door_stand_in

import harness
from harness.door import connection

WAIT_S = 60.0


@pytest.fixture(autouse=True, scope="module")
def stand_in() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "_PROGRAM", door_stand_in.PROGRAM)
        yield


@pytest.fixture(scope="module")
def judge() -> Iterator[harness.Judge]:
    with harness.Judge() as judge:
        yield judge


def told(result: harness.Result) -> dict[str, Any]:
    """What the process says of an order."""
    found: dict[str, Any] = json.loads(result.message)
    return found


def of(result: harness.Result) -> str:
    """The text that a result is of."""
    text: str = told(result)["order"]["text"]
    return text


def gone(pid: int) -> bool:
    deadline = time.monotonic() + WAIT_S
    while Path(f"/proc/{pid}").exists():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def test_a_result_is_a_value_and_says_what_was_asked(judge: harness.Judge) -> None:
    result = judge.grade("code", "softmax", dtype="float16", author="me", seed="1", language="cuda")
    assert isinstance(result, harness.Result)
    assert result.verdict is harness.Verdict.INVALID_SUBMISSION
    order = told(result)["order"]
    assert [order[key] for key in ("problem", "dtype", "author", "seed", "language")] == [
        "softmax", "float16", "me", "1", "cuda",
    ]  # fmt: skip


def test_a_str_is_code_and_a_path_is_a_file(judge: harness.Judge, tmp_path: Path) -> None:
    path = tmp_path / "kernel.cu"
    path.write_text("code")
    assert told(judge.grade(str(path), "p"))["order"]["path"] is None
    order = told(judge.grade(path, "p"))["order"]
    assert (order["path"], order["text"]) == (str(path), None)


def test_relative_paths_are_those_of_the_judge_s_start(
    judge: harness.Judge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert told(judge.grade(Path("a.cu"), "p"))["order"]["path"] == "a.cu"
    monkeypatch.chdir(tmp_path)
    order = told(judge.grade(Path("a.cu"), Path("p.py")))["order"]
    assert (order["path"], order["problem"]) == (str(tmp_path / "a.cu"), str(tmp_path / "p.py"))
    assert told(judge.grade("text", "./p.py"))["order"]["problem"] == str(tmp_path / "p.py")


def test_results_of_many_say_of_which(judge: harness.Judge) -> None:
    texts = [f"text {n}" for n in range(200)]
    results = list(judge.grade_many(texts, "p"))
    assert sorted(each.number for each in results) == list(range(200))
    assert all(of(each) == texts[each.number] for each in results)
    assert all(isinstance(each, harness.Graded) for each in results)
    again = harness.Result.from_json(results[0].to_json())
    assert again.to_json() == results[0].to_json()


def test_each_source_may_have_a_problem_of_its_own(judge: harness.Judge) -> None:
    results = judge.grade_many(["a", "b"], ["p", "q"])
    assert {of(each): told(each)["order"]["problem"] for each in results} == {"a": "p", "b": "q"}


def test_sources_may_be_endless_and_the_rest_is_dropped(judge: harness.Judge) -> None:
    before = told(judge.grade("first"))
    taken = itertools.count()
    results = judge.grade_many((f"text {n}" if n < 100 else "wait" for n in taken), "p")
    assert sorted(next(results).number for _ in range(100)) == list(range(100))
    results.close()  # type: ignore[attr-defined]
    first = before["order"]["number"] + 1
    numbers = range(first + 100, first + next(taken))
    assert told(judge.grade("last"))["dropped"] == [*before["dropped"], *numbers]
    assert len(numbers) == 63


def test_results_come_as_they_are_done(judge: harness.Judge) -> None:
    messages = [each.message for each in judge.grade_many(["wait", "soon", "go"], "p")]
    assert messages.index("waited") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((["a", "b"], ["p"]), "1 of them for 2 sources"),
        (("text", "p"), "not one alone"),
        ((Path("a.cu"), "p"), "not one alone"),
        (([[{"role": "assistant", "content": "code"}]], "p"), "source 0: list"),
        ((["good", None], "p"), "source 1: NoneType"),
        ((["good"], [3]), "problem of source 0: int"),
        ((["good", "usage"], "p"), "no such problem"),
    ],
)
def test_a_caller_s_mistake_is_an_exception(
    judge: harness.Judge, arguments: Any, words: str
) -> None:
    with pytest.raises(harness.UsageError, match=words):
        list(judge.grade_many(*arguments))
    assert of(judge.grade("afterwards")) == "afterwards"


def test_a_wrong_problem_keeps_its_places(judge: harness.Judge) -> None:
    with pytest.raises(harness.ProblemError) as caught:
        list(judge.grade_many(["good", "problem"], "p"))
    assert [(str(d.path), d.line, d.key) for d in caught.value.diagnostics] == [
        ("p/problem.md", 7, "slug")
    ]
    assert caught.value.__notes__ == ["source 1"]


def test_what_the_machine_does_wrong_comes_after_the_other_results(judge: harness.Judge) -> None:
    results = judge.grade_many(["machine", "a", "b"], "p")
    assert {next(results).number, next(results).number} == {1, 2}
    with pytest.raises(harness.MachineError, match="the disk is full") as caught:
        next(results)
    assert caught.value.__notes__ == ["source 0"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"device": "gpu"},
        {"effort": "quik"},
        {"card": 1, "device": "cpu"},
        {"cards": "all", "device": "cpu"},
        {"cards": "all", "card": 0},
        {"cluster": "auto", "card": 0},
        {"cluster": "auto", "cards": [0, 1]},
        {"cards": []},
        {"cards": 3},
        {"gpu": "H100"},
        {"judges": 4, "cards": "all"},
        {"judges": 0, "cluster": "auto"},
        {"effort": None},
        {"problems": "/no/such/folder"},
    ],
)
def test_what_a_judge_cannot_be_made_with(wrong: dict[str, Any]) -> None:
    name = next(iter(wrong))
    with pytest.raises(harness.UsageError, match=name):
        harness.Judge(**wrong)


@pytest.mark.parametrize("cards", ["0,GPU-1a", [0, "GPU-1a"], ("0", "GPU-1a")])
def test_cards_are_named_by_a_text_or_a_list(cards: Any) -> None:
    assert harness.Judge(cards=cards)._setup.cards == "0,GPU-1a"


def test_what_is_told_of_a_judge_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    told = door_stand_in.PROGRAM.replace(
        "main()",
        "import os, socket\n"
        "from harness.door.messages import line\n"
        "os.write(int(sys.argv[1]), line(note='card 1 is\\x1b left out'))\n"
        "main()",
    )
    monkeypatch.setattr(connection, "_PROGRAM", told)
    with harness.Judge() as judge:
        judge.grade("text")
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("harness", "WARNING")
    assert record.message.startswith("card 1 is")
    assert "\x1b" not in record.message


def test_sources_of_one_call_are_as_many_as_the_judges_need(
    judge: harness.Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge.grade("text")  # by now it is ready
    assert judge._connection.ahead == 64
    life = judge._connection._life
    assert life is not None
    monkeypatch.setattr(life, "judges", 8)
    assert judge._connection.ahead == 128


def test_what_the_environment_says_holds_here_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in (("REQUIRE_SANDBOX", "1"), ("FUNCTIONAL_TIMES", "true")):
        monkeypatch.setenv(f"HARNESS_{name}", value)
    monkeypatch.setenv("HARNESS_PROBLEMS", str(tmp_path))
    setup = harness.Judge()._setup
    assert (setup.require_sandbox, setup.functional_times) == (True, True)
    assert setup.problems == str(tmp_path)
    monkeypatch.setenv("HARNESS_REQUIRE_SANDBOX", "0")
    assert not harness.Judge()._setup.require_sandbox


def test_a_process_that_dies_is_started_again_and_nothing_is_lost(judge: harness.Judge) -> None:
    texts = ["a", "die once", "b", "c"]
    results = list(judge.grade_many(texts, "p"))
    assert sorted(each.number for each in results) == [0, 1, 2, 3]
    assert len({told(each)["pid"] for each in results}) == 2


def test_a_source_that_ends_the_process_twice_is_not_tried_a_third_time(
    judge: harness.Judge,
) -> None:
    results = {of(each): told(each)["order"] for each in judge.grade_many(["die", "b"], "p")}
    assert (results["die"]["deaths"], results["b"]["deaths"]) == (2, 0)


def test_not_even_where_saying_so_ends_it(judge: harness.Judge) -> None:
    results = judge.grade_many(["die always", "b"], "p")
    assert of(next(results)) == "b"
    with pytest.raises(harness.MachineError, match=r"again and again: .* status 9"):
        next(results)


def test_a_process_that_cannot_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_PROGRAM", door_stand_in.NEVER_STARTS)
    with (
        harness.Judge() as judge,
        pytest.raises(harness.MachineError, match="exit status 1: no torch here"),
    ):
        judge.grade("text", "p")


def test_a_process_that_is_killed_before_it_is_ready_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "killed"
    killed_once = f"""\
import os, pathlib
if not pathlib.Path({str(mark)!r}).exists():
    pathlib.Path({str(mark)!r}).touch()
    os.kill(os.getpid(), 9)
"""
    monkeypatch.setattr(connection, "_PROGRAM", killed_once + door_stand_in.PROGRAM)
    with harness.Judge() as judge:
        assert judge.grade("right", "p").accepted
    assert mark.exists()


def test_threads_share_a_judge(judge: harness.Judge) -> None:
    with ThreadPoolExecutor(16) as pool:
        texts = [f"text {n}" for n in range(64)]
        assert list(pool.map(lambda text: of(judge.grade(text, "p")), texts)) == texts


def test_it_starts_at_the_first_grade_and_ends_when_it_is_closed() -> None:
    judge = harness.Judge()
    pid = told(judge.grade("text"))["pid"]
    assert pid != os.getpid()
    judge.close()
    judge.close()
    assert gone(pid)
    with pytest.raises(harness.UsageError, match="closed"):
        judge.grade("text")


def test_it_ends_with_the_last_reference() -> None:
    judge = harness.Judge()
    pid = told(judge.grade("text"))["pid"]
    del judge
    gc.collect()
    assert gone(pid)


def test_who_waits_is_told_of_the_end() -> None:
    judge = harness.Judge()
    judge.grade("text")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(judge.grade, "wait")
        while not judge._connection._asked:
            time.sleep(0.01)
        judge.close()
        with pytest.raises(harness.UsageError, match="closed"):
            waiting.result(WAIT_S)


def test_it_can_be_pickled() -> None:
    with harness.Judge(effort="verdict") as judge, pickle.loads(pickle.dumps(judge)) as other:
        assert judge._setup == other._setup
        assert told(judge.grade("a"))["pid"] != told(other.grade("a"))["pid"]


def test_a_fork_gets_a_process_of_its_own(judge: harness.Judge) -> None:
    pid = told(judge.grade("before"))["pid"]
    holding = threading.Event()
    done = threading.Event()

    def hold() -> None:  # as a thread may that is in a grade at the moment of the fork
        with judge._connection._lock:
            holding.set()
            done.wait(WAIT_S)

    thread = threading.Thread(target=hold)
    thread.start()
    holding.wait(WAIT_S)
    read, write = os.pipe()
    with warnings.catch_warnings():  # from Python 3.12 on: that it has threads
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            os.write(write, str(told(judge.grade("in the fork"))["pid"]).encode())
            judge.close()
        finally:
            os._exit(0)
    done.set()
    thread.join()
    os.close(write)
    with os.fdopen(read) as answer:
        other = int(answer.read())
    os.waitpid(child, 0)
    assert other not in (pid, child)
    assert gone(other)
    assert told(judge.grade("afterwards"))["pid"] == pid


def test_the_async_twins() -> None:
    async def main() -> None:
        async with harness.Judge() as judge:
            together = await asyncio.gather(*(judge.agrade(f"text {n}", "p") for n in range(40)))
            assert [of(each) for each in together] == [f"text {n}" for n in range(40)]
            numbers = [each.number async for each in judge.agrade_many(["a"] * 150, "p")]
            assert sorted(numbers) == list(range(150))
            with pytest.raises(harness.UsageError, match="no such problem"):
                await judge.agrade("usage", "p")

    asyncio.run(main())


@pytest.mark.corpus
def test_an_async_grade_that_is_cancelled_is_dropped() -> None:
    async def main() -> None:
        async with harness.Judge() as judge:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(judge.agrade("wait", "p"), 2.0)
            assert told(await judge.agrade("next", "p"))["dropped"] == [0]

    asyncio.run(main())


def test_the_functions_are_judges_for_one_source() -> None:
    assert of(harness.grade("text", "p", device="cpu", dtype="float16", effort="quick")) == "text"
    assert of(asyncio.run(harness.agrade("text", "p", effort="verdict"))) == "text"
