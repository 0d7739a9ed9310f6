"""Two small problems to judge, and a task of the first."""

from pathlib import Path

import pytest

from harness.judge.memory import Device
from harness.judge.task import Task
from harness.problem.load import load_problem
from harness.problem.model import Problem
from harness.problem.reference import Reference

PACKAGES = Path(__file__).parent / "packages"


@pytest.fixture(scope="session")
def shift() -> Problem:
    """y = x + s."""
    return load_problem(PACKAGES / "shift")


@pytest.fixture(scope="session")
def shift_task(shift: Problem) -> Task:
    return Task(shift, Reference(shift), "float32", Device(), "a secret")


@pytest.fixture(scope="session")
def blend_task() -> Task:
    """Several types, two outputs, one of them read as well."""
    problem = load_problem(PACKAGES / "blend")
    return Task(problem, Reference(problem), "float16", Device(), "a secret")
