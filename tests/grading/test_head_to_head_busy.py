"""Which of two submissions is blamed for a device that is at work while they are timed in turns."""

from dataclasses import replace
from typing import Any, cast

import pytest
from support.fake_sessions import BUDGET, CASE, FakeOverheadProbe, FakeSession

from harness.device.base import Exclusive
from harness.device.cpu import CpuDevice
from harness.errors import MachineError
from harness.grading.benchmark import ReadyToTime
from harness.grading.head_to_head import Lost, head_to_head
from harness.judge.task import Task
from harness.progress.progress import NoProgress
from harness.records.result import Verdict
from harness.session.fault import Fault
from harness.timing.audit import IdleBaseline
from harness.timing.launch_overhead import OverheadProbe

IDLE = IdleBaseline(4e-5, 2e-4)
BUSY_S = 3e-3


class Card(CpuDevice):
    """Busy while another program is, or as long as one of the ``sessions`` lingers."""

    name = "the card"

    def __init__(self, *, other_program: bool) -> None:
        self.other_program = other_program
        self.sessions: list[ProbedSession] = []

    def probe(self) -> float:
        busy = self.other_program or any(s.lingers and not s.closed for s in self.sessions)
        return IDLE.before_s + (BUSY_S if busy else 0.0)


class ProbedSession(FakeSession):
    """Its submission, if it ``lingers``, leaves work on the device until the session is closed."""

    def __init__(self, device: Card, *, lingers: bool) -> None:
        super().__init__()
        self.device = device
        self.lingers = lingers

    def run(self, *how: Any, **more: Any) -> float | Fault:
        self.probes = (self.device.probe(), IDLE.after_s)
        return super().run(*how, **more)

    def output(self) -> str:
        return ""


@pytest.mark.parametrize("guilty", [0, 1, None])
def test_the_submission_without_which_the_device_is_idle_loses(
    shift_task: Task, guilty: int | None
) -> None:
    device = Card(other_program=guilty is None)
    device.sessions = [ProbedSession(device, lingers=which == guilty) for which in range(2)]
    task = replace(shift_task, device=device)
    a, b = (
        ReadyToTime(cast(Any, session), lambda: pytest.fail("again?"))
        for session in device.sessions
    )
    overhead = FakeOverheadProbe(0.0)
    overhead.idle = IDLE

    def outcome() -> object:
        probe = cast(OverheadProbe, overhead)
        return head_to_head((task, task), (a, b), [CASE], BUDGET, probe, Exclusive(), NoProgress())

    if guilty is None:
        with pytest.raises(MachineError, match="another program is at work on the card"):
            outcome()
    else:
        lost = outcome()
        assert isinstance(lost, Lost)
        assert lost.which == guilty
        assert lost.failed.fault.verdict is Verdict.REJECTED
