"""The line of a submission that a failure is about."""

import re

from harness.records.result import Result

_ENTRY = re.compile(r"\bsolution\s*\(")


def failing_line(result: Result, text: str) -> int:
    """The line that the message or the compiler's log names; else the entry point's; else 1.

    ``text`` is the submission's. The submission can forge messages, so the line may be wrong, but
    it is one of the file.
    """
    lines = text.count("\n") + 1
    place = re.escape(result.solution.path) + r":(\d{1,7})\b"
    failed = result.failed_case
    log = result.build.log if result.build else ""
    for pattern, words in (
        (place, result.message),
        (place, failed.message if failed else ""),
        (place + r"(?::\d+)?: (?:fatal )?error", log),
        (place, log),
    ):
        found = re.search(pattern, words)
        if found is not None and 1 <= int(found[1]) <= lines:
            return int(found[1])
    entry = _ENTRY.search(text)
    return 1 if entry is None else text.count("\n", 0, entry.start()) + 1
