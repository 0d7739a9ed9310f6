"""What stays the same over one grade."""

from dataclasses import dataclass

from harness.device.base import Device
from harness.problem.model import Problem
from harness.problem.reference import Reference


@dataclass(frozen=True, slots=True)
class Task:
    """A problem in one data type on one device; all inputs of the grade follow from ``seed``."""

    problem: Problem
    reference: Reference
    dtype: str
    device: Device
    seed: str
