"""What stays the same over one grade."""

from dataclasses import dataclass

from harness.device.memory import Device
from harness.problem.gradable import AnswerKey, Gradable


@dataclass(frozen=True, slots=True)
class Task:
    """A problem in one data type on one device; all inputs of the grade follow from ``seed``."""

    problem: Gradable
    reference: AnswerKey
    dtype: str
    device: Device
    seed: str
