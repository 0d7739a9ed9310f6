"""Split a problem file into YAML and statement, and read the YAML strictly, keeping its lines.

YAML decides the structure only: mappings, lists, and text. What a piece of text means (``1e-3``,
``"true"``, ``m*k``) is decided by converters (:mod:`harness.problem.format.fields`), so that YAML's
own surprises (``1e-3`` is text, ``no`` is false) cannot happen.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import yaml

from harness.errors import Diagnostic, ProblemError
from harness.text import strict_yaml
from harness.text.plain import printable
from harness.text.strict_yaml import YamlError

MAX_FILE_BYTES = 1 << 20

Data = str | None | list["Data"] | dict[str, "Data"]
"""What the YAML holds. Scalars stay text; an empty value is None."""

Location = tuple[int | str, ...]
"""Where in the data: keys and list positions from the top."""


@dataclass(slots=True)
class FrontMatter:
    """One problem file, taken apart, and the complaints about it."""

    path: Path
    statement: str
    """Markdown below the front matter."""
    data: dict[str, Data] = field(default_factory=dict)
    lines: dict[Location, int] = field(default_factory=dict)
    """Lines of the file, from 1, by location."""
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def line(self, location: Location) -> int:
        """The line of the innermost part of ``location`` that the file has."""
        while location and location not in self.lines:
            location = location[:-1]
        return self.lines.get(location, 1)

    def complain(self, location: Location, message: str, *, line: int | None = None) -> None:
        """Complain about what is at ``location``, or would be."""
        place = self.line(location) if line is None else line
        self.diagnostics.append(Diagnostic(self.path, place, dotted(location), message))


def read_front_matter(path: Path) -> FrontMatter:
    """Read the problem file at ``path``; faults that leave its rest readable are in its complaints.

    Raises:
        ProblemError: it cannot be read, has no front matter, or is not YAML.
    """
    lines = _read(path).split("\n")
    start = next((i for i, line in enumerate(lines) if line.strip()), None)
    if start is None:
        raise _error(path, 1, "the file is empty")
    if lines[start].rstrip() != "---":
        raise _error(path, start + 1, "no front matter: the file must begin with a line ---")
    end = next((i for i, line in enumerate(lines) if i > start and line.rstrip() == "---"), None)
    if end is None:
        raise _error(path, start + 1, "the front matter is not closed: no second line ---")
    source = "\n".join(lines[start + 1 : end]) + "\n"
    matter = FrontMatter(path, "\n".join(lines[end + 1 :]).strip("\n"))
    root = _compose(path, source, start + 2)
    data = _convert(matter, root, ()) if root is not None else {}
    if not isinstance(data, dict):
        raise _error(path, matter.line(()), "the front matter must be a mapping of keys to values")
    matter.data = data
    return matter


def _error(path: Path, line: int, message: str) -> ProblemError:
    return ProblemError([Diagnostic(path, line, "", message)])


def _read(path: Path) -> str:
    """The file's text with plain newlines and without a byte-order mark."""
    try:
        if not path.is_file():
            raise _error(path, 1, "there is no such file")
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise _error(path, 1, f"cannot be read: {error.strerror}") from None
    if len(content) > MAX_FILE_BYTES:
        raise _error(path, 1, f"larger than {MAX_FILE_BYTES} bytes")
    try:
        return strict_yaml.decode(content)
    except YamlError as error:
        raise _error(path, error.line, error.message) from None


@lru_cache(maxsize=64)  # a command asks for a package by its slug, then for all that it says
def _compose(path: Path, source: str, first_line: int) -> yaml.Node | None:
    """The YAML document's root node, whose lines are the file's; None for an empty document."""
    try:
        return strict_yaml.compose(source, what="the front matter", first_line=first_line)
    except YamlError as error:
        raise _error(path, error.line, error.message) from None


def _convert(matter: FrontMatter, node: yaml.Node, location: Location) -> Data:
    """What a node holds; notes lines and complains in ``matter``."""
    line = node.start_mark.line + 1
    matter.lines.setdefault(location, line)
    if fault := strict_yaml.tag_fault(node):
        matter.complain(location, fault, line=line)
    if isinstance(node, yaml.SequenceNode):
        return [_convert(matter, item, (*location, i)) for i, item in enumerate(node.value)]
    if not isinstance(node, yaml.MappingNode):
        text = str(node.value)
        if any("\ud800" <= c <= "\udfff" for c in text):
            matter.complain(location, "lone surrogates are not text", line=line)
            return None
        return None if node.tag == "tag:yaml.org,2002:null" else text
    data: dict[str, Data] = {}
    for entry in strict_yaml.entries(node):
        here = location if entry.key is None else (*location, entry.key)
        if entry.key is None or entry.fault:
            matter.complain(here, entry.fault, line=entry.line)
            continue
        matter.lines[here] = entry.line
        data[entry.key] = _convert(matter, entry.value, here)
    return data


def dotted(location: Location) -> str:
    """A location as people write it: ``parameters[2].name``."""
    parts = (f"[{p}]" if isinstance(p, int) else f".{printable(p)}" for p in location)
    return "".join(parts).removeprefix(".")
