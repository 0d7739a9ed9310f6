"""A package to be verified, as it is given to one of several judges."""

from dataclasses import dataclass
from pathlib import Path

from harness.device.base import Device
from harness.progress.progress import Progress
from harness.verify.findings import PackageReport
from harness.verify.verify import VerifyChoices, verify


@dataclass(frozen=True, slots=True)
class PackageErrand:
    """One package; meets :class:`harness.grading.card_wire.Errand`."""

    folder: Path
    choices: VerifyChoices

    def run(self, device: Device, progress: Progress) -> PackageReport:
        """The report on it."""
        return verify(self.folder, self.choices, device, progress)
