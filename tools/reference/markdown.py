"""Markdown of the pages: wrapped paragraphs, and lists of names with what each means."""

import textwrap
from collections.abc import Iterable


def listed(items: Iterable[tuple[str, str]]) -> str:
    """A list of names, each with what it means, if there is anything to say."""
    lines = (
        f"- {names}: {_no_tags(meaning)}" if meaning else f"- {names}" for names, meaning in items
    )
    return "".join(f"{paragraph(line)}\n" for line in lines)


def paragraph(text: str) -> str:
    """``text`` in lines of at most 100 characters; those after the first of a list are indented."""
    indent = "  " if text.startswith("- ") else ""
    wrapped = textwrap.wrap(
        text, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(wrapped)


def _no_tags(text: str) -> str:
    """``text`` with what Markdown would take for HTML escaped."""
    return text.replace("<", "\\<")
