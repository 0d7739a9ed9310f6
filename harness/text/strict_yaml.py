"""YAML of others, read strictly: bounded in bytes and depth, without anchors, aliases and own tags.

Deep nesting costs the parser quadratic time and aliases make much of little; of two equal keys YAML
would silently take the last. Each complaint names its line and, where that is not plain, what to
write instead.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from harness.text.plain import printable

MAX_BYTES = 64 << 10
MAX_DEPTH = 8
"""Levels of lists and mappings in each other, what they hold included."""

_TAGS = {"map", "seq", "str", "int", "float", "bool", "null", "timestamp", "merge", "value"}
"""Tags that YAML itself gives to plain nodes."""


class YamlError(Exception):
    """Text that is not read; the line counts from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line
        self.message = message


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a mapping."""

    key: str | None
    """None for one that is no scalar."""
    line: int
    value: yaml.Node
    fault: str = ""
    """Why it is to be left out; empty if it is not."""


def decode(content: bytes) -> str:
    """UTF-8 with plain newlines and without a byte-order mark.

    Raises:
        YamlError: it is something else.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        byte = content[error.start]
        raise YamlError(line, f"not UTF-8 (byte {error.start} is {byte:#04x})") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def compose(source: str, *, what: str, first_line: int = 1) -> yaml.Node | None:
    """The root node of one document; None for an empty one. Tags and keys are not looked at.

    Args:
        source: the YAML.
        what: how a complaint about its size calls it.
        first_line: the number of its first line in the file; those of the nodes count from it.

    Raises:
        YamlError: it is no YAML, or passes a limit.
    """
    return _composed(source, what, first_line)[1]


def values(source: str, *, what: str) -> object:
    """What one document holds, in YAML's own types; None for an empty one.

    Raises:
        YamlError: as :func:`compose`; a tag is not YAML's own, or a key is given twice or no text.
    """
    loader, root = _composed(source, what, 1)
    if root is None:
        return None
    _check(root)
    try:
        found: object = loader.construct_document(root)
    except yaml.MarkedYAMLError as error:
        raise _error(error, 1) from None
    return found


def entries(mapping: yaml.MappingNode) -> Iterator[Entry]:
    """What a mapping holds, in its order."""
    lines: dict[str, int] = {}
    for key_node, value in mapping.value:
        line = key_node.start_mark.line + 1
        if not isinstance(key_node, yaml.ScalarNode):
            yield Entry(None, line, value, "a key must be plain text")
            continue
        key = str(key_node.value)
        fault = f"given twice (first on line {lines[key]})" if key in lines else ""
        lines.setdefault(key, line)
        yield Entry(key, line, value, fault)


def tag_fault(node: yaml.Node) -> str:
    """That a node has a tag that YAML does not give by itself; empty if it has none."""
    if node.tag.removeprefix("tag:yaml.org,2002:") in _TAGS:
        return ""
    return f"YAML tags ({printable(node.tag)}) are not allowed"


class _Loader(yaml.SafeLoader):
    """Refuses anchors, aliases and deep nesting while it composes; knows where a value is wrong."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        refused = ""
        if self.depth >= MAX_DEPTH:
            refused = f"nested deeper than {MAX_DEPTH} levels"
        if getattr(event, "anchor", None) is not None:
            refused = "anchors and aliases are not allowed: write the value out in each place"
        if refused:
            raise yaml.MarkedYAMLError(problem=refused, problem_mark=event.start_mark)
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ValueError, ArithmeticError, LookupError, AttributeError):  # !!int x, 2020-13-01
            kind = node.tag.rpartition(":")[2]
            problem = f"no {kind}: put the value in quotes where it is text"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark) from None


def _composed(source: str, what: str, first_line: int) -> tuple[_Loader, yaml.Node | None]:
    if len(source.encode(errors="surrogatepass")) > MAX_BYTES:
        raise YamlError(1, f"{what} is larger than {MAX_BYTES} bytes")
    source = "\n" * (first_line - 1) + source
    try:
        loader = _Loader(source)
        return loader, loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        raise _error(error, first_line) from None
    except yaml.reader.ReaderError as error:
        line = 1 + source.count("\n", 0, error.position)
        message = "not valid YAML: special characters are not allowed"
        raise YamlError(line, message) from None
    except (ValueError, OverflowError) as error:  # PyYAML: an escape such as "\UFFFFFFFF"
        raise YamlError(first_line, f"not valid YAML: {error}") from None


def _error(error: yaml.MarkedYAMLError, first_line: int) -> YamlError:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else first_line
    return YamlError(line, f"not valid YAML: {error.problem or error.context}")


def _check(node: yaml.Node) -> None:
    """Refuse what a reader that collects complaints would complain about."""
    line = node.start_mark.line + 1
    if fault := tag_fault(node):
        raise YamlError(line, fault)
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _check(item)
    if isinstance(node, yaml.MappingNode):
        for entry in entries(node):
            if entry.fault:
                name = "" if entry.key is None else f"{printable(entry.key)}: "
                raise YamlError(entry.line, f"{name}{entry.fault}")
            _check(entry.value)
