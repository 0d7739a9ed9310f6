"""Many judges check on a card, or one takes times, who goes first."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.device import card_turns
from harness.device.card_turns import alone, beside_others

pytestmark = pytest.mark.usefixtures("places")

UUID = "12345678-aaaa-bbbb-cccc-123456789abc"
LONG_S = 60.0

JUDGE = """
import sys
from harness.device import card_turns

def waiting(seconds):
    if seconds < 0.5:
        print("waits", flush=True)

for line in sys.stdin:
    with getattr(card_turns, line.strip())(sys.argv[1], waiting):
        print("has it", flush=True)
        sys.stdin.readline()
    print("is done", flush=True)
"""


class Judge:
    """Another process that takes turns."""

    def __init__(self, uuid: str = UUID) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", JUDGE, uuid],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def asks(self, turn: str) -> "Judge":
        return self._write(turn)

    def goes_on(self) -> "Judge":
        return self._write("")

    def _write(self, line: str) -> "Judge":
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return self

    def says(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=LONG_S)


@pytest.fixture
def judge() -> Iterator[Callable[[], Judge]]:
    started: list[Judge] = []

    def start(uuid: str = UUID) -> Judge:
        started.append(Judge(uuid))
        return started[-1]

    yield start
    for each in started:
        each.kill()


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


def test_a_free_card_is_taken_at_once() -> None:
    for _ in range(2):
        with alone(UUID, nobody) as turn:
            assert turn.waited_s == 0.0


def test_one_process_at_a_time_holds_the_lock(judge: Callable[[], Judge]) -> None:
    first, second = judge(), judge()
    assert first.asks("alone").says() == "has it"
    assert second.asks("alone").says() == "waits"
    assert not is_free()
    assert first.goes_on().says() == "is done"
    assert second.says() == "has it"
    assert not is_free()
    with alone(UUID, lambda _: second.goes_on()) as turn:
        assert turn.waited_s > 0
    assert is_free()


def test_the_lock_of_a_killed_holder_is_free(judge: Callable[[], Judge]) -> None:
    first = judge().asks("alone")
    assert first.says() == "has it"
    told: list[float] = []

    def waiting(seconds: float) -> None:
        told.append(seconds)
        first.kill()

    with alone(UUID, waiting) as turn:
        assert turn.waited_s >= told[0]
    assert len(told) >= 1


@pytest.mark.corpus
def test_waiting_is_called_at_once_and_again(judge: Callable[[], Judge]) -> None:
    first = judge().asks("alone")
    assert first.says() == "has it"
    told: list[float] = []

    def waiting(seconds: float) -> None:
        told.append(seconds)
        if len(told) == 3:
            first.goes_on()

    with alone(UUID, waiting) as turn:
        pass
    assert told[1] >= told[0] + 1.0 and told[2] >= told[1] + 1.0
    assert turn.waited_s >= told[2]


def test_giving_up_leaves_nothing_held(judge: Callable[[], Judge]) -> None:
    first = judge().asks("alone")
    assert first.says() == "has it"
    assert not is_free()
    assert first.goes_on().says() == "is done"
    assert is_free()


def test_locks_of_other_cards_are_free() -> None:
    with alone(UUID, nobody), alone("another", nobody):
        pass


@pytest.mark.parametrize("prefix", ["GPU-", "MIG-"])
def test_uuids_with_and_without_prefix_share_a_lock(
    judge: Callable[[str], Judge], prefix: str
) -> None:
    first = judge(f"{prefix}{UUID}").asks("alone")
    assert first.says() == "has it"
    assert not is_free(UUID)


def test_a_thread_may_enter_again(judge: Callable[[], Judge]) -> None:
    with alone(UUID, nobody):
        with alone(UUID, nobody) as turn:
            assert turn.waited_s == 0.0
        other = judge().asks("alone")
        assert other.says() == "waits"  # the inner one's end did not release it
    assert other.says() == "has it"


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


def test_many_check_at_once(judge: Callable[[], Judge]) -> None:
    assert judge().asks("beside_others").says() == "has it"
    assert judge().asks("beside_others").says() == "has it"
    with beside_others(UUID, nobody), beside_others(f"GPU-{UUID}", nobody):
        pass


def test_who_takes_times_waits_for_all_who_check(judge: Callable[[], Judge]) -> None:
    first, second, timing = judge(), judge(), judge()
    assert first.asks("beside_others").says() == "has it"
    assert second.asks("beside_others").says() == "has it"
    assert timing.asks("alone").says() == "waits"
    assert first.goes_on().says() == "is done"
    assert second.goes_on().says() == "is done"
    assert timing.says() == "has it"


def test_nobody_begins_to_check_while_somebody_wants_to_take_times(
    judge: Callable[[], Judge],
) -> None:
    first, late, one, other = judge(), judge(), judge(), judge()
    assert first.asks("beside_others").says() == "has it"
    assert one.asks("alone").says() == "waits"
    assert late.asks("beside_others").says() == "waits"
    assert other.asks("alone").says() == "waits"
    assert first.goes_on().says() == "is done"
    # Of both who take times either may be first; then comes the other, and then who checks.
    said = []
    for each in (one, other):
        thread = threading.Thread(target=lambda j=each: said.append((j, j.says())))
        thread.start()
    while not said:
        time.sleep(0.01)
    assert said[0][1] == "has it"
    assert said[0][0].goes_on().says() == "is done"
    while len(said) < 2:
        time.sleep(0.01)
    assert said[1][1] == "has it"
    assert late.process.poll() is None
    assert said[1][0].goes_on().says() == "is done"
    assert late.says() == "has it"


def test_who_is_killed_lets_go(judge: Callable[[], Judge]) -> None:
    first, second = judge(), judge()
    assert first.asks("alone").says() == "has it"
    assert second.asks("beside_others").says() == "waits"
    first.kill()
    assert second.says() == "has it"


def test_who_checks_steps_out_to_take_times(judge: Callable[[], Judge]) -> None:
    other = judge()
    with beside_others(UUID, nobody):
        with alone(UUID, nobody):
            assert other.asks("beside_others").says() == "waits"
        assert other.says() == "has it"
        # It checks itself again: nobody takes times before it is done.
        assert other.goes_on().says() == "is done"
        assert other.asks("alone").says() == "waits"
    assert other.says() == "has it"


def test_an_error_in_between_leaves_the_turn_to_check(judge: Callable[[], Judge]) -> None:
    other = judge()
    with beside_others(UUID, nobody):
        with pytest.raises(ZeroDivisionError), alone(UUID, nobody):
            raise ZeroDivisionError
        assert other.asks("alone").says() == "waits"
    assert other.says() == "has it"


def test_who_is_told_to_end_does_not_wait_for_another_turn(judge: Callable[[], Judge]) -> None:
    other = judge()
    with pytest.raises(KeyboardInterrupt), beside_others(UUID, nobody), alone(UUID, nobody):
        assert other.asks("alone").says() == "waits"
        raise KeyboardInterrupt
    assert other.says() == "has it"


def test_other_threads_of_who_takes_times_use_the_card(judge: Callable[[], Judge]) -> None:
    used = []

    def use() -> None:
        with beside_others(UUID, lambda _: None):
            used.append(UUID)

    with alone(UUID, nobody):
        thread = threading.Thread(target=use)
        thread.start()
        thread.join(LONG_S)
        assert used == [UUID]
        assert judge().asks("beside_others").says() == "waits"


def test_a_card_is_warm_for_a_while_after_somebody_has_said_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with alone(UUID, nobody) as turn:
        assert not turn.warm()
        turn.note_warm()
    with alone(UUID, nobody) as turn:
        assert turn.warm()
        now = time.time()
        monkeypatch.setattr(card_turns.time, "time", lambda: now + card_turns.WARM_S)
        assert not turn.warm()
        monkeypatch.setattr(card_turns.time, "time", lambda: now - 60)  # a clock that was set back
        assert not turn.warm()


TURNS = """
import os, random, sys, time
from harness.device import card_turns

log = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND)
chance = random.Random(int(sys.argv[3]))
for _ in range(40):
    turn = chance.choice(["alone", "beside_others", "beside_others"])
    with getattr(card_turns, turn)(sys.argv[1], lambda _: None):
        os.write(log, f"+ {turn}\\n".encode())
        time.sleep(chance.random() * 0.004)
        os.write(log, f"- {turn}\\n".encode())
"""


@pytest.mark.corpus
def test_whoever_takes_times_is_alone_among_many(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.touch()
    started = [
        subprocess.Popen([sys.executable, "-c", TURNS, UUID, str(log), str(seed)])
        for seed in range(6)
    ]
    assert [each.wait(LONG_S) for each in started] == [0] * len(started)
    there: list[str] = []
    most = 0
    for line in log.read_text().splitlines():
        sign, turn = line.split()
        if sign == "-":
            there.remove(turn)
            continue
        assert not (there if turn == "alone" else "alone" in there), line
        there.append(turn)
        most = max(most, len(there))
    assert there == []
    assert most > 1  # many do check at once
