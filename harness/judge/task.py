"""The record of what stays the same over one grade."""

from dataclasses import dataclass

from harness.device.base import Device
from harness.problem.gradable import AnswerKey, Gradable


@dataclass(frozen=True, slots=True)
class Task:
    """A problem in one data type on one device."""

    problem: Gradable
    reference: AnswerKey
    """The problem's, loaded."""
    dtype: str
    """What ``[VAR]`` stands for, by torch's name."""
    device: Device
    seed: str
    """The grade's secret: all inputs follow from it."""
