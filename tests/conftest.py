"""What holds for all tests: nothing of the user's is touched, and what cannot run is skipped."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from harness.judge.task import Task
    from harness.problem.package import Problem

# Before anything imports torch: threads of several tests at once only get in each other's way.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Hundreds of processes import the same modules: they are compiled once, whatever the user's habit.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# How long an example takes is a matter of the machine, and no test's business. The same commit gets
# the same examples every time; `make explore` looks for many others.
anyhow = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", anyhow, max_examples=500)
settings.register_profile("harness", anyhow, derandomize=True, max_examples=40)
settings.load_profile("harness")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Neighbours stay together, so that what a module's tests share is made by one worker alone."""
    if config.getoption("dist") != "load":  # something else was asked for
        return None
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip, with its reason, what needs a GPU or the CUDA compiler where there is none."""
    missing = {}
    if any(item.get_closest_marker("gpu") for item in items):
        from harness.device.choose import gpu_present

        if not gpu_present():
            missing["gpu"] = pytest.mark.skip(reason="no NVIDIA GPU here")
    if any(item.get_closest_marker("nvcc") for item in items) and not _has_nvcc():
        missing["nvcc"] = pytest.mark.skip(reason="no nvcc here")
    for item in items:
        for marker, skip in missing.items():
            if item.get_closest_marker(marker):
                item.add_marker(skip)


def _has_nvcc() -> bool:
    from harness.languages.build.toolchain import NvccNotFound, find_nvcc

    try:
        find_nvcc()
    except NvccNotFound:
        return False
    return True


@pytest.fixture(autouse=True)
def signals_of_the_tests() -> Iterator[None]:
    """What a command catches in this process, it catches for its test alone."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        if signal.getsignal(number) is not handler:
            signal.signal(number, handler)


@pytest.fixture(scope="session", autouse=True)
def private_places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache and a store of the tests' own, for everything they start, too."""
    folder = tmp_path_factory.mktemp("private")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(folder / "cache"))
        patch.setenv("HARNESS_STORE", str(folder / "results.sqlite"))
        patch.delenv("HARNESS_PROBLEMS", raising=False)
        yield folder


STAND_IN = Path(__file__).parent / "support/stand_in"
"""Holds a module ``torch`` that costs nothing to import."""


@pytest.fixture
def stand_in_for_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runners of Python submissions start in 0.1 s, with a stand-in for torch."""
    from harness.session import start_runner as runners

    true_path = runners.search_path
    monkeypatch.setattr(runners, "search_path", lambda: [str(STAND_IN), *true_path()])


PACKAGES = Path(__file__).parent / "support" / "packages"
"""Small problems of every kind."""


@pytest.fixture(scope="session")
def shift() -> Problem:
    """y = x + s."""
    from harness.problem.format.load import load_problem

    return load_problem(PACKAGES / "shift")


@pytest.fixture(scope="session")
def shift_task() -> Task:
    """That problem in single precision on the CPU."""
    return _task("shift", "float32")


@pytest.fixture(scope="session")
def blend_task() -> Task:
    """Several types, two outputs, one of them read as well."""
    return _task("blend", "float16")


def _task(name: str, dtype: str) -> Task:
    from harness.device.cpu import CpuDevice
    from harness.judge.task import Task
    from harness.problem.format.load import load_problem
    from harness.problem.reference import Reference

    problem = load_problem(PACKAGES / name)
    return Task(problem, Reference(problem), dtype, CpuDevice(), "a secret")
