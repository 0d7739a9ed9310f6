"""The record of a file that no judge could grade, which is no fault of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.grading.job import Work

if TYPE_CHECKING:
    from harness.device.base import Device
    from harness.progress.progress import Progress
    from harness.records.result import Result


@dataclass(frozen=True, slots=True)
class GiveUp:
    """An :class:`~harness.grading.card_wire.Errand` whose outcome is an ``INTERNAL_ERROR``."""

    work: Work
    message: str

    def run(self, device: Device, progress: Progress) -> Result:
        """The result, which says why."""
        from harness.grading.grader import Grader
        from harness.records.refs import DeviceRef

        options = self.work.options.on(DeviceRef(kind=device.kind, name=device.name))
        with Grader(device, progress) as grader:
            return grader.give_up(self.work.job, options, self.message)
