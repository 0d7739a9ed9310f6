"""Launch overhead from null batches, with a session that is made up."""

import math
import re
from typing import Any, cast

import pytest
import torch
from support.fake_sessions import FAULT, FakeSession

from harness.device.cpu import CpuDevice
from harness.errors import MachineError
from harness.judge.batch import Batch
from harness.judge.task import Task
from harness.problem.case import Case
from harness.problem.reference import Reference
from harness.session.session import Session
from harness.timing.audit import IdleBaseline
from harness.timing.launch_overhead import OverheadProbe, null_problem, null_program


class NullKernelSession(FakeSession):
    """Takes its constant, more the more was filled, and the wait, by a clock that is made up.

    The device's own goes in ``ticks``, seconds.
    """

    probes = (40e-6, 180e-6)
    ticks = 1e-9

    def run(self, batch: Any, seed: str, *, expected_s: float = 0.0, **options: Any) -> Any:
        self.expected.append(expected_s)
        self.batches.append((batch.layout.calls, seed))
        if self.fails == "run":
            return FAULT
        batch.fill(seed)
        (wait,) = {s.tensor.name: s for s in self.own.slots if s.dtype is torch.int64}.values()
        waited = self.arena.bytes[wait.base : wait.base + wait.bytes].view(torch.int64).item()
        waited_s = math.ceil(waited * 1e-9 / self.ticks) * self.ticks
        return self.constant + self.per_call * batch.layout.calls + waited_s

    def prepare(self, batch: Any, plan: Any, *more: Any) -> Any:
        self.own = batch.layout
        return super().prepare(batch, plan, *more)


def overhead_probe(session: FakeSession) -> OverheadProbe:
    return OverheadProbe(cast(Session, session), null_problem(), CpuDevice())


def test_null_problem_is_complete() -> None:
    problem = null_problem()
    assert problem.complete
    x = torch.tensor([1.0, -2.0], dtype=torch.float64)
    expected = Reference(problem).expected(Case(sizes={"n": 2}), {"x": x})
    assert expected["y"].tolist() == [2.0, -1.0]


def test_null_kernel_is_launched_once_with_its_arguments() -> None:
    problem = null_problem()
    program = null_program(problem)
    assert program.launches is not None
    (launch,) = program.launches.at({"n": 5})
    names = [problem.parameters[each].name for each in launch.arguments]
    assert (launch.kernel, launch.grid, launch.block) == ("wait", (1, 1, 1), (1, 1, 1))
    assert names == ["nanoseconds", "y"]
    parameters = re.search(r"\.entry wait\((.*?)\)", program.source.decode(), re.DOTALL)
    assert parameters is not None
    assert re.findall(r"u64 (\w+)", parameters[1]) == names


def test_overhead_and_idle_baseline_come_from_small_null_batches() -> None:
    session = NullKernelSession(0.0, constant=2e-4)
    probe = overhead_probe(session)
    assert probe.batch_s == pytest.approx(2e-4)
    assert probe.idle == IdleBaseline(before_s=40e-6, after_s=180e-6)
    assert session.plan.capture is False  # no GPU here
    assert len({seed for _, seed in session.batches}) == len(session.batches)
    probe.close()


def test_a_null_batch_fills_the_buffers_of_another_batch(shift_task: Task) -> None:
    session = NullKernelSession(1e-5, constant=2e-4)
    probe = overhead_probe(session)
    case = Case(sizes={"n": 50}, scalars={"s": 0.5})
    with_three = Batch(shift_task, case, CpuDevice().arena(1 << 20), 3)
    assert probe.time(with_three, "seed", None, 0.0) == pytest.approx(2.3e-4)
    assert session.batches[-1] == (3, "seed")
    probe.warm_up("seed", None)
    assert session.batches[-1] == (1, "seed/before")


@pytest.mark.parametrize(
    ("ticks", "wait_s", "waited_s"),
    [(1e-9, 5e-3, 5e-3), (1e-6, 5e-3, 5e-3), (7e-3, 5e-3, 0.0)],
)
def test_null_kernel_waits_as_long_as_the_calls_take(
    shift_task: Task, ticks: float, wait_s: float, waited_s: float
) -> None:
    """Not where the device's clock is too coarse."""
    session = NullKernelSession(0.0, constant=2e-4)
    session.ticks = ticks
    probe = overhead_probe(session)
    batch = Batch(
        shift_task, Case(sizes={"n": 50}, scalars={"s": 0.5}), CpuDevice().arena(1 << 20), 3
    )
    seen: list[float] = []
    plain = session.run
    session.run = lambda *how, **more: seen.append(plain(*how, **more)) or seen[-1]  # type: ignore[method-assign]
    assert probe.time(batch, "seed", None, wait_s) == pytest.approx(2e-4, abs=2e-6)
    assert seen == pytest.approx([2e-4 + waited_s], abs=2e-6)
    assert session.expected[-1] == waited_s


@pytest.mark.parametrize("point", ["map", "prepare", "run"])
def test_a_null_kernel_that_fails_is_a_machine_error(point: str) -> None:
    with pytest.raises(MachineError, match="the null kernel fails: no luck"):
        overhead_probe(NullKernelSession(fails=point))
