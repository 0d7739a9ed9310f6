"""A runner sees its own card, on its judge's processors; builds keep off every seat."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from harness.device.choose import open_device
from harness.device.cpu import CpuDevice
from harness.device.cpu_plan import CpuPlan, Seat
from harness.device.quiet import Quiet
from harness.device.workplace import Workplace, keep_to
from harness.grading.builds import Builds
from harness.grading.job import Job
from harness.problem.package import Problem
from harness.problem.terms import Limits
from harness.session import start_runner as runners
from harness.session.programs import RunnerProgram
from harness.solution.model import Invalid

HERE = sorted(os.sched_getaffinity(0))


class Place:
    """A workplace on the first of this machine's processors."""

    builders = 3
    quiet: Quiet | None = None

    def beside(self) -> frozenset[int]:
        return frozenset(HERE[:1])

    def runners(self) -> frozenset[int]:
        return frozenset(HERE[:1])


class OneOfTwo(CpuDevice):
    """A device with a node and a workplace."""

    workplace = cast(Workplace, Place())

    def nodes(self) -> tuple[str, ...]:
        return ("/dev/null",)

    def variables(self) -> dict[str, str]:
        return {"CUDA_VISIBLE_DEVICES": "GPU-1"}


def test_a_runner_has_the_nodes_variables_and_processors_of_its_device(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    given: dict[str, Any] = {}

    def sandbox(entry: str, environment: Mapping[str, str], **how: Any) -> None:
        given.update(how, environment=environment)

    monkeypatch.setattr(runners, "Sandbox", sandbox)
    program = RunnerProgram(kind="library", file=Path("/solution.so"))
    runners.start_runner(program, OneOfTwo(), Limits())
    assert given["devices"] == ("/dev/null",)
    assert given["environment"]["CUDA_VISIBLE_DEVICES"] == "GPU-1"
    assert list(given["cpus"]) == HERE[:1]
    runners.start_runner(program, CpuDevice(), Limits())
    assert (given["devices"], given["cpus"]) == ((), ())
    assert given["environment"]["CUDA_VISIBLE_DEVICES"] == "0,1"


def test_builds_run_beside_the_seats_and_as_many_as_the_plan_says(shift: Problem) -> None:
    seen: list[set[int]] = []
    job = Job(path="x", solution=Invalid("none"), problem=shift)

    def build(job: Job) -> Any:
        seen.append(os.sched_getaffinity(0))
        return job

    with Builds(place=cast(Workplace, Place())) as builds:
        assert builds.begin(lambda: build(job)).result() == job
        assert builds._workers <= 3
    assert seen == [set(HERE[:1])]
    assert sorted(os.sched_getaffinity(0)) == HERE


@pytest.mark.usefixtures("places")
def test_where_builds_have_turns_a_time_ends_theirs(shift: Problem) -> None:
    import threading

    plan = CpuPlan(
        seats={"a": Seat(HERE[0], HERE[-1], frozenset(HERE))},
        spare=(), rest=frozenset(HERE), apart=False, builders=2,
    )  # fmt: skip
    place, built = Workplace("a", plan), threading.Event()
    job = Job(path="x", solution=Invalid("none"), problem=shift)
    with Builds(place=place) as builds:
        with place.timed(lambda _: None), builds.paused(lambda: None):
            building = builds.begin(lambda: cast(Any, built.set() or job))
            assert not built.wait(0.3)
        assert building.result(30) == job


@pytest.mark.gpu
def test_a_true_card_shows_its_node_alone_and_its_seat_is_taken() -> None:
    card = open_device("cuda")
    before = frozenset(os.sched_getaffinity(0))
    try:
        card.settle()
        place = card.workplace
        assert place is not None
        with card.exclusive(lambda _: None) as held:
            assert held.runner_cpu == (None if place.seat is None else place.seat.runner)
            if place.seat is not None:
                assert os.sched_getaffinity(0) == {place.seat.judge}
        own = [node for node in card.nodes() if re.fullmatch(r"/dev/nvidia\d+", node)]
        assert own
        if Path("/proc/driver/nvidia/gpus").exists() and "MIG" not in card.name:
            assert len(own) == 1
        assert card.variables().get("CUDA_VISIBLE_DEVICES", "GPU-").startswith("GPU-")
    finally:
        keep_to(before)
        if card.workplace is not None:
            card.workplace.close()
