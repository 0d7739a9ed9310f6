"""A package to be verified, as it is given to one of several judges, here or elsewhere."""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from pydantic import TypeAdapter, ValidationError

from harness.device.base import Device
from harness.errors import ProblemError
from harness.problem.format.load import load_problem, problem_folders
from harness.problem.model import STATEMENT_FILE
from harness.progress.progress import Progress
from harness.sandbox import scratch
from harness.verify.examples import files_below
from harness.verify.findings import PackageReport
from harness.verify.verify import VerifyChoices, solutions_of, verify

_REPORT = TypeAdapter(PackageReport)


@dataclass(frozen=True, slots=True)
class PackageErrand:
    """One package; meets :class:`harness.grading.card_wire.Errand`."""

    folder: Path
    choices: VerifyChoices

    def run(self, device: Device, progress: Progress) -> PackageReport:
        """The report on it."""
        return verify(self.folder, self.choices, device, progress)


@dataclass(frozen=True, slots=True)
class TravellingPackage:
    """One package with the files that it is verified with, for a judge on another machine.

    Meets :class:`harness.grading.card_wire.TravellingErrand`.
    """

    folder: Path
    """Where it lies at home; ``home`` is above it."""
    home: Path
    files: Mapping[str, bytes]
    """By their paths from ``home``, with ``/``."""
    choices: VerifyChoices

    @classmethod
    def of(cls, folder: Path, choices: VerifyChoices) -> Self:
        """The package in ``folder``, its solutions, and the statements beside it.

        Raises:
            OSError: a file cannot be read.
        """
        folder = folder.resolve()
        home = folder.parent.parent
        found = sorted(folder.rglob("*"))
        paths = [path for path in found if path.is_file() and "__pycache__" not in path.parts]
        others = [each for each in problem_folders(folder.parent) if each.name != folder.name]
        paths += [each / STATEMENT_FILE for each in others]
        try:
            slug = load_problem(folder).slug
        except ProblemError:  # which the report will say
            slug = folder.name
        paths += files_below(solutions_of(folder, slug))
        files = {path.relative_to(home).as_posix(): path.read_bytes() for path in paths}
        return cls(folder, home, files, choices)

    def run(self, device: Device, progress: Progress) -> str:
        """The report on it as JSON, with the paths of home."""
        with tempfile.TemporaryDirectory(prefix="package-", dir=scratch.home()) as made:
            away = Path(made).resolve()
            for name, content in self.files.items():
                path = away / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            folder = away / self.folder.relative_to(self.home)
            report = verify(folder, self.choices, device, progress)
        _rename(report, lambda text: text.replace(str(away), str(self.home)))
        return _REPORT.dump_json(report).decode()

    def read(self, said: str) -> PackageReport:
        """The report that a judge says is on it.

        Raises:
            ValueError: it is none, or on something else.
        """
        try:
            report = _REPORT.validate_json(said)
        except ValidationError as error:
            raise ValueError(f"no report: {error}") from error
        if (report.seed, report.grades) != (self.choices.seed, self.choices.grades):
            raise ValueError("a report is on other grades")
        return report


def _rename(report: PackageReport, renamed: Callable[[str], str]) -> None:
    report.findings = [
        replace(
            each,
            place=renamed(each.place),
            message=renamed(each.message),
            remedy=renamed(each.remedy),
        )
        for each in report.findings
    ]
    report.examples = [replace(each, path=renamed(each.path)) for each in report.examples]
