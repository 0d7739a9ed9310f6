"""Split a problem file into YAML and statement, and read the YAML strictly, keeping its lines.

YAML decides the structure only: mappings, lists, and text. What a piece of text means (``1e-3``,
``"true"``, ``m*k``) is decided by converters (:mod:`harness.problem.format.fields`), so that YAML's
own surprises (``1e-3`` is text, ``no`` is false, the last of two equal keys wins) cannot happen.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import yaml

from harness.errors import Diagnostic, ProblemError
from harness.text.plain import printable

MAX_FILE_BYTES = 1 << 20
MAX_FRONT_MATTER_BYTES = 64 << 10
MAX_DEPTH = 8

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
    if len(source.encode()) > MAX_FRONT_MATTER_BYTES:
        raise _error(path, 1, f"the front matter is larger than {MAX_FRONT_MATTER_BYTES} bytes")
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
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        byte = content[error.start]
        raise _error(path, line, f"not UTF-8 (byte {error.start} is {byte:#04x})") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


_TAGS = {"map", "seq", "str", "int", "float", "bool", "null", "timestamp", "merge", "value"}
"""Tags that YAML itself gives to plain nodes."""


class _Loader(yaml.SafeLoader):
    """Composes nodes; refuses anchors, aliases and deep nesting while it does."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        refused = f"nested deeper than {MAX_DEPTH}" if self.depth >= MAX_DEPTH else ""
        if getattr(event, "anchor", None) is not None:
            refused = "anchors and aliases are not allowed"
        if refused:
            raise yaml.MarkedYAMLError(problem=refused, problem_mark=event.start_mark)
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


@lru_cache(maxsize=64)  # a command asks for a package by its slug, then for all that it says
def _compose(path: Path, source: str, first_line: int) -> yaml.Node | None:
    """The YAML document's root node, whose lines are the file's; None for an empty document."""
    source = "\n" * (first_line - 1) + source
    try:
        root: yaml.Node | None = _Loader(source).get_single_node()
        return root
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else first_line
        raise _error(path, line, f"not valid YAML: {error.problem or error.context}") from None
    except yaml.reader.ReaderError as error:
        line = 1 + source.count("\n", 0, error.position)
        raise _error(path, line, "not valid YAML: special characters are not allowed") from None
    except (ValueError, OverflowError) as error:  # PyYAML: an escape such as "\UFFFFFFFF"
        raise _error(path, first_line, f"not valid YAML: {error}") from None


def _convert(matter: FrontMatter, node: yaml.Node, location: Location) -> Data:
    """What a node holds; notes lines and complains in ``matter``."""
    line = node.start_mark.line + 1
    matter.lines.setdefault(location, line)
    if node.tag.removeprefix("tag:yaml.org,2002:") not in _TAGS:
        message = f"YAML tags ({printable(node.tag)}) are not allowed"
        matter.complain(location, message, line=line)
    if isinstance(node, yaml.SequenceNode):
        return [_convert(matter, item, (*location, i)) for i, item in enumerate(node.value)]
    if not isinstance(node, yaml.MappingNode):
        text = str(node.value)
        if any("\ud800" <= c <= "\udfff" for c in text):
            matter.complain(location, "lone surrogates are not text", line=line)
            return None
        return None if node.tag == "tag:yaml.org,2002:null" else text
    data: dict[str, Data] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        if not isinstance(key_node, yaml.ScalarNode):
            matter.complain(location, "a key must be plain text", line=line)
            continue
        key = str(key_node.value)
        here = (*location, key)
        if key in data:
            message = f"given twice (first on line {matter.lines[here]})"
            matter.complain(here, message, line=line)
            continue
        matter.lines[here] = line
        data[key] = _convert(matter, value_node, here)
    return data


def dotted(location: Location) -> str:
    """A location as people write it: ``parameters[2].name``."""
    parts = (f"[{p}]" if isinstance(p, int) else f".{printable(p)}" for p in location)
    return "".join(parts).removeprefix(".")
