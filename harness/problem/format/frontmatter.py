"""Split a problem file into YAML and statement, and read the YAML strictly, keeping its lines.

YAML decides the structure only: mappings, lists, and text. What a piece of text means (``1e-3``,
``"true"``, ``m*k``) is decided by converters (:mod:`harness.problem.format.fields`), so that YAML's
own surprises (``1e-3`` is text, ``no`` is false, the last of two equal keys wins) cannot happen.
"""

from dataclasses import dataclass, field
from pathlib import Path

import yaml

from harness.errors import Diagnostic, ProblemError
from harness.text.plain import visible

MAX_FILE_BYTES = 1 << 20
MAX_FRONT_MATTER_BYTES = 64 << 10
MAX_DEPTH = 8
_MAX_SHOWN = 80

Data = str | None | list["Data"] | dict[str, "Data"]
"""What the YAML holds. Scalars stay text; an empty value is None."""

Location = tuple[int | str, ...]
"""Where in the data: keys and list positions from the top."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """One problem file, taken apart."""

    data: dict[str, Data]
    lines: dict[Location, int]
    """Lines of the file, from 1, by location."""
    statement: str
    """Markdown below the front matter."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Faults in the YAML that leave its rest readable (a key given twice)."""

    def line(self, location: Location) -> int:
        """The line of the innermost part of ``location`` that the file has."""
        while location and location not in self.lines:
            location = location[:-1]
        return self.lines.get(location, 1)


def read_front_matter(path: Path) -> FrontMatter:
    """Read the problem file at ``path``.

    Raises:
        ProblemError: it cannot be read, has no front matter, or is not YAML.
    """
    text = _read(path)
    source, statement, first_line = _split(path, text)
    if len(source.encode()) > MAX_FRONT_MATTER_BYTES:
        raise _error(path, 1, f"the front matter is larger than {MAX_FRONT_MATTER_BYTES} bytes")
    root = _compose(path, source, first_line)
    converter = _Converter(path, first_line)
    data = converter.convert(root, ()) if root is not None else {}
    if not isinstance(data, dict):
        line = converter.lines[()]
        raise _error(path, line, "the front matter must be a mapping of keys to values")
    return FrontMatter(
        data=data,
        lines=converter.lines,
        statement=statement,
        diagnostics=tuple(converter.diagnostics),
    )


def _error(path: Path, line: int, message: str) -> ProblemError:
    return ProblemError([Diagnostic(path, line, "", message)])


def _read(path: Path) -> str:
    """The file's text with plain newlines and without a byte-order mark.

    Raises:
        ProblemError: no such file, too large, or not UTF-8.
    """
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


def _split(path: Path, text: str) -> tuple[str, str, int]:
    """YAML, statement, and the line on which the YAML starts.

    Raises:
        ProblemError: the file is empty or the front matter missing or not closed.
    """
    lines = text.split("\n")
    start = next((i for i, line in enumerate(lines) if line.strip()), None)
    if start is None:
        raise _error(path, 1, "the file is empty")
    if lines[start].rstrip() != "---":
        raise _error(path, start + 1, "no front matter: the file must begin with a line ---")
    for end in range(start + 1, len(lines)):
        if lines[end].rstrip() == "---":
            statement = "\n".join(lines[end + 1 :]).strip("\n")
            return "\n".join(lines[start + 1 : end]) + "\n", statement, start + 2
    raise _error(path, start + 1, "the front matter is not closed: no second line ---")


_TAGS = {"map", "seq", "str", "int", "float", "bool", "null", "timestamp", "merge", "value"}
"""Tags that YAML itself gives to plain nodes."""


class _Loader(yaml.SafeLoader):
    """Composes nodes; refuses anchors, aliases and deep nesting while it does."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if getattr(event, "anchor", None) is not None:
            raise yaml.MarkedYAMLError(
                problem="anchors and aliases are not allowed", problem_mark=event.start_mark
            )
        if self.depth >= MAX_DEPTH:
            raise yaml.MarkedYAMLError(
                problem=f"nested deeper than {MAX_DEPTH}", problem_mark=event.start_mark
            )
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def _compose(path: Path, source: str, first_line: int) -> yaml.Node | None:
    """The YAML document's root node, or None for an empty document.

    Raises:
        ProblemError: it is not YAML, or uses what we refuse.
    """
    try:
        loader = _Loader(source)
        root: yaml.Node | None = loader.get_single_node()
        return root
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = first_line + (mark.line if mark else 0)
        raise _error(path, line, f"not valid YAML: {error.problem or error.context}") from None
    except yaml.reader.ReaderError as error:
        line = first_line + source.count("\n", 0, error.position)
        raise _error(path, line, "not valid YAML: special characters are not allowed") from None
    except (ValueError, OverflowError) as error:  # PyYAML: an escape such as "\UFFFFFFFF"
        raise _error(path, first_line, f"not valid YAML: {error}") from None


@dataclass(slots=True)
class _Converter:
    """Turns nodes into :data:`Data`, noting lines and collecting complaints."""

    path: Path
    first_line: int
    lines: dict[Location, int] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def complain(self, node: yaml.Node, key: str, message: str) -> None:
        line = self.first_line + node.start_mark.line
        self.diagnostics.append(Diagnostic(self.path, line, key, message))

    def convert(self, node: yaml.Node, location: Location) -> Data:
        self.lines.setdefault(location, self.first_line + node.start_mark.line)
        key = dotted(location)
        if node.tag.removeprefix("tag:yaml.org,2002:") not in _TAGS:
            self.complain(node, key, f"YAML tags ({printable(node.tag)}) are not allowed")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, location)
        if isinstance(node, yaml.SequenceNode):
            return [self.convert(item, (*location, i)) for i, item in enumerate(node.value)]
        text = str(node.value)
        if any("\ud800" <= c <= "\udfff" for c in text):
            self.complain(node, key, "lone surrogates are not text")
            return None
        if node.tag == "tag:yaml.org,2002:null":
            return None
        return text

    def _mapping(self, node: yaml.MappingNode, location: Location) -> Data:
        data: dict[str, Data] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self.complain(key_node, dotted(location), "a key must be plain text")
                continue
            key = str(key_node.value)
            here = (*location, key)
            if key in data:
                before = self.lines[here]
                self.complain(key_node, dotted(here), f"given twice (first on line {before})")
                continue
            self.lines[here] = self.first_line + key_node.start_mark.line
            data[key] = self.convert(value_node, here)
        return data


def dotted(location: Location) -> str:
    """A location as people write it: ``parameters[2].name``."""
    out = ""
    for part in location:
        if isinstance(part, int):
            out += f"[{part}]"
        else:
            out += f".{printable(part)}" if out else printable(part)
    return out


def printable(text: str) -> str:
    """Text from the file on one line, cut, with escapes for what would disturb a terminal."""
    return visible(text[:_MAX_SHOWN]) + ("…" if len(text) > _MAX_SHOWN else "")
