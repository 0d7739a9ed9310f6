"""Every kind of device answers all that the judge asks, and is judged by its answers alone."""

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
import torch
from support.samples import measurement

from harness.device.base import Arena, Device, Exclusive, Kind
from harness.device.choose import open_device
from harness.device.cpu import CpuDevice
from harness.grading.result_builder import make_score
from harness.judge.task import Task
from harness.problem.package import Problem
from harness.records.measurement import Conditions
from harness.timing.budget import CPU_BUDGET, TimingBudget, budget_for

ATTRIBUTES = {name: hint for name, hint in get_type_hints(Device).items() if name != "kind"}
METHODS = {
    name: member
    for name, member in inspect.getmembers(Device, inspect.isfunction)
    if not name.startswith("_")
}


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Device:
    return open_device(request.param)


def test_the_tables_cover_the_protocol() -> None:
    """Nothing that the protocol asks is missing from the two tables."""
    asked = {name for name in vars(Device) if not name.startswith("_")}
    assert asked | set(Device.__annotations__) == ATTRIBUTES.keys() | METHODS.keys() | {"kind"}
    assert {"rankable", "emulated", "captures_graphs", "patience"} <= ATTRIBUTES.keys()
    assert {"arena", "exclusive", "nodes", "probe"} <= METHODS.keys()


def test_kind_is_one_that_records_know(device: Device) -> None:
    assert device.kind in get_args(Kind)


@pytest.mark.parametrize("name", sorted(ATTRIBUTES))
def test_attributes_have_the_type_of_the_protocol(device: Device, name: str) -> None:
    assert isinstance(getattr(device, name), ATTRIBUTES[name]), (name, getattr(device, name))


@pytest.mark.parametrize("name", sorted(METHODS))
def test_methods_take_the_parameters_of_the_protocol(device: Device, name: str) -> None:
    wanted = list(inspect.signature(METHODS[name]).parameters)[1:]
    assert list(inspect.signature(getattr(device, name)).parameters) == wanted
    assert (getattr(type(device), name).__doc__ or "").strip()


def test_an_arena_is_shared_memory_on_the_device(device: Device) -> None:
    arena: Arena = device.arena(1000)
    try:
        assert isinstance(arena.size, int) and arena.size >= 1000
        assert isinstance(arena.fd, int) and arena.fd >= 0
        assert (arena.bytes.dtype, tuple(arena.bytes.shape)) == (torch.uint8, (arena.size,))
        assert str(arena.bytes.device) == device.torch_device
        arena.bytes.fill_(7)
        assert device.flush() is None
        assert device.synchronize() is None
        assert bool((arena.bytes == 7).all())
    finally:
        arena.close()


def test_answers_about_the_device_have_their_types(device: Device, shift: Problem) -> None:
    probe = device.probe()
    assert isinstance(probe, float) and probe >= 0
    assert all(Path(node).is_relative_to("/dev") for node in device.nodes())
    assert isinstance(device.nodes(), tuple)
    free = device.free_bytes()
    assert isinstance(free, int) and free > 1 << 20
    assert (device.architecture is None) is device.emulated


def test_exclusive_gives_a_monitor_and_a_processor(device: Device) -> None:
    waiting: Callable[[float], None] = lambda _: None  # noqa: E731
    manager = device.exclusive(waiting)
    assert isinstance(manager, AbstractContextManager)
    with manager as held:
        assert isinstance(held, Exclusive)
        assert held.runner_cpu is None or isinstance(held.runner_cpu, int)
        if held.monitor is not None:
            assert held.monitor.read() is None
            assert isinstance(held.monitor.conditions(), Conditions | None)


class RankedEmulator(CpuDevice):
    """Emulates kernels as the CPU does, and says that its times may stand on a board."""

    rankable = True
    emulated = True


def _ranked(task: Task, device: Any) -> tuple[bool, str]:
    task = replace(task, device=device)
    budget = TimingBudget(max_ranked_rel_ci=1.0, max_ranked_shape_rel_ci=1.0)
    score = make_score(task, [measurement()] * 2, budget, known_seed=False)
    return score.ranked, score.unranked_reason


def test_ranking_follows_the_answer_and_not_the_kind(shift_task: Task) -> None:
    assert RankedEmulator().kind == CpuDevice().kind == "cpu"
    assert _ranked(shift_task, RankedEmulator()) == (True, "")
    ranked, reason = _ranked(shift_task, CpuDevice())
    assert (ranked, "functional timing" in reason) == (False, True)


def test_the_budget_follows_the_answer_and_not_the_kind() -> None:
    assert budget_for(RankedEmulator()) == TimingBudget()
    assert budget_for(CpuDevice()) == CPU_BUDGET
