"""Who keeps the device at work where two submissions are timed in turns, both of them suspects."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from harness.grading.timing_ready import ReadyToTime
from support.fake_sessions import BUDGET, CASE, FakeSession, contender

from harness.errors import MachineError
from harness.grading import head_to_head as compare
from harness.judge.task import Task
from harness.progress.progress import NoProgress
from harness.records.result import Verdict
from harness.session.session import Fault
from harness.timing.audit import IdleBaseline
from harness.timing.launch_overhead import OverheadProbe
from harness.timing.timed_program import TimedProgram

USUAL = IdleBaseline(4e-5, 2e-4)
BUSY_S = 3e-3


class Lingering(FakeSession):
    """Leaves work on the device, which goes on until the session is closed."""


@pytest.mark.parametrize("guilty", [0, 1, None])
def test_who_is_at_work_all_the_time_is_blamed(
    shift_task: Task, monkeypatch: pytest.MonkeyPatch, guilty: int | None
) -> None:
    sessions = [Lingering() if which == guilty else FakeSession() for which in range(2)]

    def probe() -> float:
        others = guilty is None
        busy = others or any(isinstance(s, Lingering) and not s.closed for s in sessions)
        return USUAL.before_s + (BUSY_S if busy else 0.0)

    device = SimpleNamespace(
        kind="cpu", name="the card", arena=shift_task.device.arena, torch_device="cpu",
        synchronize=lambda: None, free_bytes=shift_task.device.free_bytes, probe=probe,
    )  # fmt: skip
    task = replace(shift_task, device=cast(Any, device))
    blamed: list[int] = []

    def joined(session: Any, *_: object) -> TimedProgram:
        one = contender(task, session)
        one._idleness.usual = one._usual = USUAL
        return one

    def ready(which: int) -> ReadyToTime:
        draft = SimpleNamespace(
            task=task,
            fail_timed=lambda _, fault: blamed.append(which),
            finish=lambda verdict, _: verdict,
        )
        return ReadyToTime(
            cast(Any, draft), cast(Any, sessions[which]), lambda: pytest.fail("again?")
        )

    def run(self: FakeSession, *how: Any, **more: Any) -> float | Fault:
        self.probes = (probe(), USUAL.after_s)
        return run_of_fake(self, *how, **more)

    run_of_fake = FakeSession.run
    monkeypatch.setattr(FakeSession, "run", run)
    monkeypatch.setattr(FakeSession, "output", lambda _: "", raising=False)
    monkeypatch.setattr(compare, "join", joined)
    blank = SimpleNamespace(
        usual=USUAL, batch_s=0.0, warm_up=lambda _: None, time=lambda *_: 0.0,
        started_early_fault=lambda: None, after_s=0.0,
    )  # fmt: skip

    def head_to_head() -> object:
        return compare.head_to_head(
            ready(0), ready(1), [CASE], BUDGET, cast(OverheadProbe, blank), None, NoProgress()
        )

    if guilty is None:
        with pytest.raises(MachineError, match="another program is at work on the card"):
            head_to_head()
    else:
        assert head_to_head() is Verdict.REJECTED
        assert blamed == [guilty]
