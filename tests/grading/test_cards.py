"""Several judges' processes fed from one list, whatever becomes of them."""

import contextlib
import os
import pickle
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from formats.kernelbench_problems import HEAD, SCALED
from support.foreign import foreign, written
from support.judged_files import FAKE, Shown, work

from harness.errors import Diagnostic, MachineError, NoDeviceError, ProblemError
from harness.grading import card_process
from harness.grading.card_process import Seated
from harness.grading.cards import Cards
from harness.grading.job import Completed, Job, NotJudged, Options, Work
from harness.problem.package import Problem
from harness.progress.progress import NoProgress, Progress
from harness.records.refs import DeviceRef
from harness.solution.model import Invalid, Solution

ROOT = Path(__file__).parents[2]
Open = Callable[..., Cards]


@pytest.fixture
def lines() -> list[str]:
    """What was told of cards that are left out."""
    return []


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list[str]) -> Iterator[Open]:
    """Opens judges that grade nothing, on made-up cards; none of their processes may be left."""
    monkeypatch.setattr(card_process, "_JUDGE", FAKE)

    def open_cards(*names: str, progress: Progress | None = None, silent_s: float = 600.0) -> Cards:
        cards = [
            Seated(f"card {name}", "cpu", {"FAKE_CARD": name, "FAKE_PLACE": str(tmp_path)})
            for name in names
        ]
        return Cards(cards, None, progress or NoProgress(), told=lines.append, silent_s=silent_s)

    yield open_cards
    if (tmp_path / "started").exists():
        for line in (tmp_path / "started").read_text().splitlines():
            assert not Path(f"/proc/{line.split()[1]}").exists()


def named(outcomes: Sequence[Completed | NotJudged]) -> dict[str, str]:
    """The card that graded each file, or why it was not."""
    return {
        each.work.job.path: each.result.id.split("-")[0]
        if isinstance(each, Completed)
        else str(each.error)
        for each in outcomes
    }


def asked(place: Path) -> list[tuple[str, str]]:
    lines = (place / "asked").read_text().splitlines()
    return [(card, path) for card, _, path in (line.partition(" ") for line in lines)]


def test_each_file_has_its_result_once_from_any_card(
    opened: Open, shift: Problem, tmp_path: Path
) -> None:
    files = work(shift, *(f"{number}.cu" for number in range(30)))
    with opened("0", "1", "2") as cards:
        assert cards.device == DeviceRef(kind="cuda", name="Made-up 100")
        done = list(cards.outcomes(files))
    assert len(done) == 30
    assert {id(each.work) for each in done} == set(map(id, files))
    for each in done:
        assert isinstance(each, Completed)
        assert each.result.solution.name == each.work.job.path
    assert set(named(done).values()) <= {"0", "1", "2"}
    assert len(asked(tmp_path)) == 30


@pytest.mark.corpus
def test_nothing_to_do_and_several_batches(opened: Open, shift: Problem) -> None:
    with opened("0", "1") as cards:
        assert list(cards.outcomes([])) == []
        for count in (3, 1, 5):
            files = work(shift, *(f"{number}.cu" for number in range(count)))
            assert len(list(cards.grade(files))) == count


@pytest.mark.corpus
def test_a_card_alone_grades_in_order(opened: Open, shift: Problem) -> None:
    names = [f"{number}.cu" for number in range(6)]
    with opened("0") as cards:
        assert [each.work.job.path for each in cards.grade(work(shift, *names))] == names


@pytest.mark.corpus
def test_a_judge_that_dies_costs_a_second_try_and_nothing_else(
    opened: Open, shift: Problem, lines: list[str]
) -> None:
    names = [f"{'die-once-' if number % 5 == 0 else ''}{number}.cu" for number in range(12)]
    with opened("0", "1") as cards:
        done = named(list(cards.outcomes(work(shift, *names))))
    assert set(done) == set(names)
    assert set(done.values()) <= {"0", "1"}
    assert lines == []


@pytest.mark.corpus
def test_a_file_that_kills_each_judge_is_named_and_no_card_is_left_out(
    opened: Open, shift: Problem, tmp_path: Path, lines: list[str]
) -> None:
    names = ["a.cu", "die-1.cu", "b.cu", "die-2.cu", "c.cu", "die-3.cu", "d.cu"]
    with opened("0", "1") as cards:
        done = named(list(cards.outcomes(work(shift, *names))))
    for name in names:
        if name.startswith("die"):
            assert "killed by SIGKILL" in done[name]
            assert "not tried again" in done[name]
            tries = [card for card, path in asked(tmp_path) if path == name]
            assert sorted(tries) == ["0", "1"]
        else:
            assert done[name] in ("0", "1")
    assert lines == []


@pytest.mark.corpus
def test_a_card_that_fails_twice_is_left_out_and_named(
    opened: Open, shift: Problem, lines: list[str]
) -> None:
    names = [f"die-on-1-{number}.cu" for number in range(9)]
    with opened("0", "1") as cards:
        done = named(list(cards.outcomes(work(shift, *names))))
        assert done == dict.fromkeys(names, "0")
        # And stays so, for what comes later.
        assert set(named(list(cards.outcomes(work(shift, "x.cu", "y.cu")))).values()) == {"0"}
    assert lines == [
        "card 1 is left out, as its judge failed twice: its judge was killed by SIGKILL, maybe for "
        "want of memory"
    ]


@pytest.mark.corpus
def test_a_card_that_cannot_be_opened_is_left_out(
    opened: Open, shift: Problem, lines: list[str]
) -> None:
    with opened("deaf", "1") as cards:
        done = named(list(cards.outcomes(work(shift, *(f"{n}.cu" for n in range(4))))))
    assert set(done.values()) == {"1"}
    assert len(done) == 4
    assert lines in ([], ["card deaf is left out, as its judge failed twice: no context"])


@pytest.mark.corpus
def test_where_no_card_is_left_the_reasons_are_told(opened: Open, shift: Problem) -> None:
    with (
        pytest.raises(MachineError, match="no card is left; card deaf: no context"),
        opened("deaf") as cards,
    ):
        list(cards.outcomes(work(shift, "a.cu")))
    with (
        pytest.raises(MachineError, match="no card is left"),
        opened("0") as cards,
    ):
        list(cards.outcomes(work(shift, "die-1.cu", "die-2.cu", "die-3.cu", "x.cu")))


@pytest.mark.corpus
def test_without_a_gpu_there_is_none_anywhere(opened: Open, shift: Problem) -> None:
    with pytest.raises(NoDeviceError, match="no GPU"), opened("absent", "absent") as cards:
        list(cards.outcomes(work(shift, "a.cu")))


@pytest.mark.corpus
def test_an_error_of_the_machine_is_tried_elsewhere_and_told_once(
    opened: Open, shift: Problem
) -> None:
    with opened("0", "1") as cards:
        done = named(list(cards.outcomes(work(shift, "a.cu", "sick.cu", "b.cu"))))
        assert done["sick.cu"] == "no memory for sick.cu (twice, so it is not tried again)"
        assert {done["a.cu"], done["b.cu"]} <= {"0", "1"}
        with pytest.raises(MachineError, match=r"no memory for sick\.cu"):
            list(cards.grade(work(shift, "sick.cu")))


@pytest.mark.corpus
def test_a_problems_mistakes_are_those_of_all_its_files(
    opened: Open, shift: Problem, tmp_path: Path
) -> None:
    other = replace(shift, slug="other")
    files = [
        *work(other, "wrong.cu", *(f"{number}.cu" for number in range(20))),
        *work(shift, "fine.cu"),
    ]
    with opened("0") as cards:
        done = list(cards.outcomes(files))
    assert len(done) == 22
    lost = {each.work.job.path: each.error for each in done if isinstance(each, NotJudged)}
    assert "wrong.cu" in lost
    assert len(lost) > 15  # those that waited
    for error in lost.values():
        assert isinstance(error, ProblemError)
        assert error.diagnostics[0].line == 3
    assert named(done)["fine.cu"] == "0"
    assert len(asked(tmp_path)) < 8


@pytest.mark.corpus
@pytest.mark.corpus
def test_a_judge_that_says_nothing_is_ended(opened: Open, shift: Problem, lines: list[str]) -> None:
    with opened("0", "1", silent_s=12.0) as cards:  # in which one starts on a busy machine, too
        done = named(list(cards.outcomes(work(shift, "a.cu", "silent.cu", "b.cu"))))
    assert done["silent.cu"] == "its judge said nothing for 12 s (twice, so it is not tried again)"
    assert {done["a.cu"], done["b.cu"]} <= {"0", "1"}
    assert lines == []


@pytest.mark.corpus
def test_files_with_the_same_content_are_graded_once(
    opened: Open, shift: Problem, tmp_path: Path
) -> None:
    def of(name: str, content: str) -> Work:
        solution = Solution(
            path=Path(name), display_path=name, submitted=b"", source=b"", text="", author="alice",
            name=name, problem=shift.slug, language="pytorch", hash=content, dtypes=None,
        )  # fmt: skip
        return Work(Job(path=name, solution=solution, problem=shift), Options(timing=False))

    files = [of(f"{number}.py", content) for number, content in enumerate("abacb")]
    # Asked for otherwise it is another grade.
    files.append(replace(files[0], options=Options(timing=False, dtype="float16")))
    with opened("0", "1") as cards:
        done = list(cards.outcomes(files))
    assert len(done) == 6
    assert Counter(path for _, path in asked(tmp_path)) == Counter(
        {"0.py": 2, "1.py": 1, "3.py": 1}
    )
    results = {each.work.job.path: each.result for each in done if isinstance(each, Completed)}
    assert "the same content as" in results["2.py"].notes[-1]
    assert results["2.py"].solution.path == "2.py"


@pytest.mark.corpus
def test_one_display_has_a_line_for_each_card(opened: Open, shift: Problem) -> None:
    shown = Shown()
    with opened("0", "1", progress=shown) as cards:
        list(cards.outcomes(work(shift, "a.cu", "b.cu", "c.cu")))
    text = "\n".join(shown.told)
    for name in ("a.cu", "b.cu", "c.cu"):
        assert f": time {name} of 3" in text
    assert {line.split(":")[0] for line in shown.told if ": time" in line} <= {"card 0", "card 1"}
    assert "card 0: 1 so far" in shown.told or "card 1: 1 so far" in shown.told
    counts = [line for line in shown.told if "/" in line]
    assert list(dict.fromkeys(counts)) == ["0/3", "1/3", "2/3", "3/3"]


@pytest.mark.corpus
def test_what_nobody_asks_for_any_more_is_not_answered_later(opened: Open, shift: Problem) -> None:
    with opened("0") as cards:
        outcomes = cards.outcomes(work(shift, "a.cu", "silent.cu", "c.cu"))
        next(outcomes)
        outcomes.close()  # type: ignore[attr-defined]
        assert named(list(cards.outcomes(work(shift, "x.cu", "y.cu")))) == {
            "x.cu": "0",
            "y.cu": "0",
        }


class Meanwhile:
    """A feed that gives its lists one after the other, each when the one before was taken."""

    def __init__(self, *later: Sequence[Work], unwanted: Sequence[Work] = ()) -> None:
        self._later = list(later)
        self._unwanted = unwanted
        self._read, self._write = os.pipe()
        os.write(self._write, b"x")

    def fileno(self) -> int:
        return self._read

    def take(self) -> Sequence[Work]:
        return self._later.pop(0) if self._later else []

    def wants(self, work: Work) -> bool:
        return work not in self._unwanted


@pytest.mark.corpus
def test_what_comes_meanwhile_is_graded_in_the_same_run(opened: Open, shift: Problem) -> None:
    files = work(shift, *(f"{number}.cu" for number in range(9)))
    with opened("0", "1") as cards:
        done = list(cards.outcomes(files[:2], Meanwhile(files[2:5], [], files[5:])))
    assert Counter(each.work.job.path for each in done) == Counter(f.job.path for f in files)
    assert all(isinstance(each, Completed) for each in done)


@pytest.mark.corpus
def test_what_is_unwanted_before_its_turn_is_not_begun(
    opened: Open, shift: Problem, tmp_path: Path
) -> None:
    first, *rest = work(shift, "slow.cu", *(f"{number}.cu" for number in range(30)))
    with opened("0") as cards:
        done = named(list(cards.outcomes([first, *rest[:10]], Meanwhile(rest[10:], unwanted=rest))))
    assert len(done) == 31
    assert done["29.cu"] == "not graded: nobody waits for it"
    assert len(asked(tmp_path)) < 8


@pytest.mark.corpus
def test_a_problem_that_had_mistakes_is_tried_again_for_what_comes_later(
    opened: Open, shift: Problem
) -> None:
    wrong, *rest = work(shift, "wrong.cu", "a.cu", "b.cu")
    later: list[Work] = []
    feed = Meanwhile(unwanted=())
    feed.take = lambda: [later.pop()] if later else []  # type: ignore[method-assign]
    with opened("0") as cards:
        outcomes = cards.outcomes([wrong, rest[0]], feed)
        assert isinstance(next(outcomes), NotJudged)
        later.append(rest[1])
        assert named(list(outcomes))["b.cu"] == "0"


@pytest.mark.corpus
def test_an_interrupt_ends_all_judges_at_once(opened: Open, shift: Problem, tmp_path: Path) -> None:
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt), opened("0", "1") as cards:
        for _ in cards.outcomes(work(shift, "a.cu", "b.cu", "silent-1.cu", "silent-2.cu")):
            raise KeyboardInterrupt
    assert time.monotonic() - started < 300  # and not for as long as the silent ones sleep


@pytest.mark.corpus
def test_judges_are_killed_from_outside(opened: Open, shift: Problem, tmp_path: Path) -> None:
    files = work(shift, *(f"{number}.cu" for number in range(40)))
    with opened("0", "1", "2") as cards:
        done = []
        for each in cards.outcomes(files):
            done.append(each)
            if len(done) in (3, 9, 20):
                _kill_the_newest(tmp_path / "started")
    assert Counter(each.work.job.path for each in done) == Counter(each.job.path for each in files)
    assert all(isinstance(each, Completed) for each in done)


def _kill_the_newest(started: Path) -> None:
    """Kills the judge that has started last, of those that have not gone."""
    for line in reversed(started.read_text().splitlines()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(line.split()[1]), signal.SIGKILL)
            return
    raise AssertionError("no judge is left")


def test_work_and_errors_are_the_same_in_another_process(shift: Problem, tmp_path: Path) -> None:
    model = written(tmp_path, "KernelBench/level1/1_Scale.py", HEAD + SCALED)
    for problem in (shift, foreign(model)):
        job = Job(path="a.cu", solution=Invalid("none"), problem=problem, notes=("so",))
        sent = Work(job, Options(dtype="float16"))
        there = pickle.loads(pickle.dumps(sent))
        assert there == sent
        assert there.job.problem.hash == problem.hash
    error = ProblemError(
        [Diagnostic(Path("p.md"), 1, "a", "b"), Diagnostic(Path("p.md"), 2, "", "c")]
    )
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.diagnostics) == (
        ProblemError,
        str(error),
        error.diagnostics,
    )


def test_the_judges_program_is_found_from_anywhere(tmp_path: Path) -> None:
    assert str(ROOT) in card_process._JUDGE
    compile(card_process._JUDGE, "judge", "exec")
    assert sys.executable


def test_a_judge_on_a_card_begins_its_zygote_before_it_imports_torch() -> None:
    programs = {
        device: card_process._program(Seated("one", device, {})) for device in ("cuda", "cpu")
    }
    assert programs["cuda"].index("begin_zygote()") < programs["cuda"].index("card_judge")
    assert "begin_zygote" not in programs["cpu"]
