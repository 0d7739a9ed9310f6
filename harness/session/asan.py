"""Reads what AddressSanitizer reports of a library that was built with it."""

import re
from pathlib import Path

_LINE_LIMIT = 1000


def sanitizer_summary(report: str) -> str:
    """Summarise an AddressSanitizer report in one line: the access and its place."""
    # Line by line, each cut: a submission may have printed anything before.
    lines = [line[:_LINE_LIMIT] for line in report.splitlines()]

    def first(pattern: str) -> re.Match[str] | None:
        return next((found for line in lines if (found := re.match(pattern, line))), None)

    what = first(r".*?ERROR: AddressSanitizer: (.+)")
    access = first(r"((?:READ|WRITE) of size \d+)")
    where = first(r" *#\d+ \S+ in (.+?) (\S*solution\.cu:\d+)")
    parts = ["out-of-bounds or invalid memory access"]
    if access:
        parts.append(access[1].lower())
    if where:
        parts.append(f"at {Path(where[2]).name} in {where[1][:200]}")
    if what:
        parts.append(f"({what[1].split(' on ')[0][:100]}, found by AddressSanitizer)")
    return " ".join(parts)
