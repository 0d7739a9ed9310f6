"""The details of a fault of ours, for those who are to mend it."""

import tempfile
import traceback

from harness.text.plain import plain_lines


def log_fault(error: Exception) -> str:
    """Where the details of ``error`` are, in words: a new file, or, if there can be none, here."""
    lines = "".join(traceback.format_exception(error))
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="harness-", suffix=".log", delete=False, encoding="utf-8"
        ) as log:
            log.write(lines)
    except OSError:
        return f"its details:\n{plain_lines(lines)}"
    return f"details in {log.name}"
