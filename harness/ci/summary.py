"""A report as Markdown: for the summary of a job, and for a comment on the pull request.

A section is shown whole or not at all, so that a cut leaves no fence open. Untrusted text goes
through :mod:`harness.ci.markdown`.
"""

from collections.abc import Iterator

from harness.ci.markdown import block, code
from harness.ci.mismatch import mismatch_lines, tensor_lines
from harness.ci.report import FileOutcome, Graded, PullRequestReport
from harness.records.result import Verdict
from harness.text import numbers
from harness.text.plain import head, tail

SUMMARY_BYTES = 1 << 20
"""Most bytes of a step's job summary: GitHub Docs, "Workflow commands", "Step isolation"."""

COMMENT_BYTES = 65_536
"""Most bytes of a comment: GitHub's REST API refuses a ``body`` of more than 65536 characters."""

_REST = "\n… the rest does not fit here; report.json has everything.\n"
_LOG_LINES = 30
_OUTPUT_LINES = 20
_TITLES = {
    FileOutcome.ACCEPTED: "all accepted",
    FileOutcome.NOTHING: "no submission changed",
    FileOutcome.REFUSED: "not graded, the changes are refused",
    FileOutcome.FAULT: "not graded to the end",
}


def summary(report: PullRequestReport, limit: int = SUMMARY_BYTES) -> str:
    """The report in Markdown, in at most ``limit`` bytes of UTF-8 (at least 1000)."""
    shown: list[str] = []
    room = limit - len(_REST.encode("utf-8"))
    for section in _sections(report):  # made lazily: what does not fit is never made
        room -= len(section.encode("utf-8")) + 1
        if room < 0:
            shown.append(_REST)
            break
        shown.append(section)
    return "\n".join(shown)


def comment(report: PullRequestReport, kind: str = "graded", provenance: str = "") -> str:
    """The report as a comment, after ``provenance``, which is trusted Markdown.

    By the hidden first line with ``kind``, a trusted word, the next run finds the comment to
    replace.
    """
    start = f"<!-- kernel-harness: {kind} -->\n" + (f"{provenance}\n\n" if provenance else "")
    return start + summary(report, COMMENT_BYTES - len(start.encode("utf-8")))


def _sections(report: PullRequestReport) -> Iterator[str]:
    yield _heading(report)
    if report.refused:
        yield "### Refused\n\nNothing was graded.\n"
        for note in report.refused:
            yield block(f"{note.path}: {note.reason}")
    if report.fault:
        yield "### Fault\n\n" + block(report.fault)
    if report.graded:
        rows = map(_row, report.graded)
        head_rows = ("| verdict | submission | type | device | score |", "|---|---|---|---|---|")
        yield "\n".join([*head_rows, *rows, ""])
    for each in report.failures:
        yield _failure(each)
    for title, paths in (("Deleted", report.deleted), ("Not looked at", report.ignored)):
        if paths:
            yield f"### {title}\n\n" + block(head("\n".join(map(_one_line, paths)), 50))
    if report.skipped:
        notes = "\n".join(f"{_one_line(note.path)}: {note.reason}" for note in report.skipped)
        yield "### Not graded\n\n" + block(head(notes, 50))


def _one_line(path: str) -> str:
    return path.replace("\n", "\\n")


def _heading(report: PullRequestReport) -> str:
    good = len(report.graded) - len(report.failures)
    title = _TITLES.get(report.outcome, f"{good} of {len(report.graded)} accepted")
    how = "checked and timed" if report.timed else "checked, not timed"
    text = (
        f"## Kernels: {title}\n\nSubmissions of {code(report.head[:12])}, {how}; problems of the "
        f"base {code(report.base[:12])}, harness {code(report.harness, 40)}.\n"
    )
    if report.timed and any(each.result.device.emulated for each in report.graded):
        text += "\nTimes of a CPU are shown, and not ranked with a GPU's.\n"
    return text


def _row(each: Graded) -> str:
    result = each.result
    cells = (
        code(result.verdict),
        code(each.path) + (" (renamed)" if each.old_path else ""),
        code(result.dtype, 20),
        code(result.device.name, 60),
        _score(each),
    )
    return "| " + " | ".join(cells) + " |"


def _score(each: Graded) -> str:
    score = each.result.score
    if score is None:
        return ""
    text = f"{numbers.ratio(score.speedup)} over {code(score.baseline, 60)}"
    return text if score.ranked else f"{text}, not ranked: {code(score.unranked_reason)}"


def _failure(each: Graded) -> str:
    """Verdict, reason, command that repeats it, output of the compiler and the submission."""
    result = each.result
    title = f"### {code(result.verdict)} {code(each.path)}, line {each.line}\n"
    parts = [title, block(result.message)]
    failed = result.smallest_failed_case
    if failed is not None:
        parts += ["The case that failed:\n", block(failed.spec, 1000)]
        if failed.message and not result.message.startswith(failed.message):
            parts.append(block(failed.message))
    if wrong := [*mismatch_lines(result), *tensor_lines(result)]:
        parts.append(block("\n".join(wrong)))
    if result.reproduce:
        parts += ["To see it again:\n", block(result.reproduce)]
    log = result.build.log if result.build else ""
    if result.verdict is Verdict.COMPILE_ERROR and log.strip():
        parts += _folded("What the compiler said", head(log, _LOG_LINES))
    if result.output.strip():
        parts += _folded("What the submission printed", tail(result.output, _OUTPUT_LINES))
    return "\n".join(parts)


def _folded(title: str, text: str) -> list[str]:
    return [f"<details><summary>{title}</summary>\n", block(text, 20_000), "</details>\n"]
