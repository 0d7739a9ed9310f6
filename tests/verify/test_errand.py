"""Packages that travel to a judge on another machine, and the reports that come back."""

import pickle
import re
import shutil
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from support.corpus import rest_in_corpus
from support.verify_packages import Package

from harness.device.cpu import CpuDevice
from harness.grading.card_wire import Done
from harness.grading.cluster_wire import decode, encode
from harness.progress.progress import NoProgress
from harness.verify.errand import TravellingPackage
from harness.verify.findings import PackageReport
from harness.verify.verify import VerifyChoices, verify

CHOICES = VerifyChoices(grades=1, impostors=False, seed="5")
WRONG = "# verdict: accepted\ndef solution(x, s, y, m, n):\n    y.zero_()\n"


@pytest.fixture
def folder(package: Package) -> Path:
    """With an example whose verdict is another than it says, a solution, and a namesake."""
    made = package()
    for name in ("problems/row-sum/examples/accepted/zeros.py", "solutions/row-sum/me/zeros.py"):
        path = made.parents[1] / name
        path.parent.mkdir(parents=True)
        path.write_text(WRONG)
    shutil.copytree(made, made.parent / "other")
    return made


def _away(folder: Path, choices: VerifyChoices) -> PackageReport:
    """Verified where only what has travelled is, as judges are told and answer."""
    errand = TravellingPackage.of(folder, choices)
    sent: TravellingPackage = pickle.loads(pickle.dumps(errand))
    home, hidden = folder.parents[1], folder.parents[1].with_name("hidden")
    home.rename(hidden)
    try:
        said = sent.run(CpuDevice(), NoProgress())
    finally:
        hidden.rename(home)
    heard = decode(encode(Done(3, said)))
    assert isinstance(heard, Done) and heard.number == 3
    return errand.read(str(heard.value))


def _without_chance(report: PackageReport) -> dict[str, object]:
    """All that follows from the seed: examples are graded with secrets of their own."""
    findings = [re.sub("--case .*", "", str(each)) for each in report.findings]
    return {**asdict(report), "seconds": 0, "findings": findings}


@pytest.mark.parametrize("examples", rest_in_corpus([False, True]))
def test_its_report_is_the_one_of_home(folder: Path, examples: bool) -> None:
    choices = replace(CHOICES, examples=examples)
    away, here = _away(folder, choices), verify(folder, choices, CpuDevice(), NoProgress())
    assert any("other" in each.message for each in here.findings)  # the namesake
    assert [each.path for each in away.examples] == [each.path for each in here.examples]
    assert len(away.examples) == (3 if examples else 0)
    assert _without_chance(away) == _without_chance(here)
    assert bool(here.errors) and here.variants


def test_solutions_tell_that_it_can_be_solved_without_being_graded(package: Package) -> None:
    folder, choices = package(), replace(CHOICES, examples=False)
    warning = "no submission beside the baseline is accepted"
    assert any(warning in each.message for each in _away(folder, choices).findings)
    path = folder.parents[1] / "solutions/row-sum/me/right.py"
    path.parent.mkdir(parents=True)
    path.write_text((folder / "baseline.py").read_text())
    assert not any(warning in each.message for each in _away(folder, choices).findings)


def test_a_package_that_does_not_load_has_its_report(package: Package) -> None:
    folder = package()
    (folder / "problem.md").write_text("---\nslug: 3 4\n---\n")
    assert (
        _away(folder, CHOICES).errors == verify(folder, CHOICES, CpuDevice(), NoProgress()).errors
    )


@pytest.mark.parametrize(
    "said",
    ["", "{}", "[]", '{"slug": 3}', '{"slug": "row-sum", "seed": "6", "grades": 1}'],
    ids=["nothing", "empty", "a list", "types", "another seed"],
)
def test_what_is_no_report_on_it(package: Package, said: str) -> None:
    with pytest.raises(ValueError, match="report"):
        TravellingPackage.of(package(), CHOICES).read(said)
