"""A report as JUnit XML, which CI systems show as tests: one suite for each problem.

A submission that was not accepted is a failure; INTERNAL_ERROR, a fault and a refusal are errors;
NOT_EXECUTABLE_HERE is skipped where it does not count. ``time`` is what building it, its cases and
the search for a smaller one took.
"""

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter

from harness.ci.mismatch import mismatch_lines, tensor_lines
from harness.ci.report import Graded, PullRequestReport
from harness.records.result import Result, Verdict
from harness.text.plain import plain, plain_lines

_TEXT = 20_000


def junit(report: PullRequestReport) -> str:
    """The XML document, with hidden and forbidden characters as escapes."""
    suites = ET.Element("testsuites", name="harness ci")
    notes = [_error(note.path, note.reason) for note in report.refused]
    if report.fault:
        notes.append(_error("the whole", report.fault))
    if notes:
        suites.append(_suite("pull request", notes))
    failing = {each.path for each in report.failures}
    slug_of = attrgetter("result.problem.slug")
    for slug, group in groupby(sorted(report.graded, key=slug_of), key=slug_of):
        suites.append(_suite(slug, [_case(each, each.path in failing) for each in group]))
    ET.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suites, "unicode") + "\n"


def _suite(name: str, cases: Sequence[ET.Element]) -> ET.Element:
    suite = ET.Element("testsuite", name=plain(name, 100), tests=str(len(cases)))
    suite.extend(cases)
    for count, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(count, str(len(suite.findall(f"testcase/{tag}"))))
    return suite


def _case(each: Graded, failed: bool) -> ET.Element:
    result = each.result
    seconds = sum(case.seconds or 0.0 for case in result.cases)
    seconds += result.build.seconds if result.build and not result.build.cached else 0.0
    seconds += result.shrunk.seconds if result.shrunk else 0.0
    case = ET.Element(
        "testcase",
        classname=plain(result.problem.slug, 100),
        name=plain(each.path, 400),
        file=plain(each.path, 400),
        line=str(each.line),
        time=f"{seconds:.3f}",
    )
    if result.accepted:
        return case
    kind = "error" if result.verdict is Verdict.INTERNAL_ERROR else "failure"
    _add(case, kind if failed else "skipped", str(result.verdict), result.message, _details(result))
    if failed and result.output.strip():
        ET.SubElement(case, "system-out").text = plain_lines(result.output, _TEXT)
    return case


def _error(path: str, reason: str) -> ET.Element:
    case = ET.Element("testcase", classname="pull request", name=plain(path, 400))
    _add(case, "error", "not graded", reason)
    return case


def _details(result: Result) -> list[str]:
    """The case, what is wrong in it, and the command that repeats it."""
    failed = result.smallest_failed_case
    if failed is None:
        return []
    wrong = [*mismatch_lines(result), *tensor_lines(result)]
    return [f"case: {failed.spec}", *wrong, result.reproduce]


def _add(
    case: ET.Element, kind: str, verdict: str, message: str, details: Sequence[str] = ()
) -> None:
    outcome = ET.SubElement(case, kind, type=verdict, message=plain(message, 400))
    outcome.text = plain_lines("\n".join([message, *details]), _TEXT)
