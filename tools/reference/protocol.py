"""Makes docs/reference/protocol.md: every message of the protocol, from its record."""

import ast
import dataclasses
import inspect
import itertools
import json
import textwrap
import types
import typing

from harness.wire import arguments, messages
from harness.wire.messages import MAX_TEXT, MESSAGES, VERSION, Answer, Message
from harness.wire.transport import MAX_MESSAGE
from harness.wire.validation import WireRecord
from tools import ROOT
from tools.reference.markdown import listed, paragraph

PAGE = ROOT / "docs/reference/protocol.md"

_HEAD = f"""# The protocol between judge and runner

Made from the code by `python -m tools.reference`; a test holds it up to date.

A message is one packet of a Unix socket: a JSON object of at most {MAX_MESSAGE >> 10} KiB with a
`type` and the fields below, descriptors beside it. A field with a default (in brackets) may be
missing; an unknown, missing or ill-typed field breaks the protocol. This is version {VERSION}: the
runner sends it in `confined`, and the judge refuses another one as a fault of the machine.

The judge sends, the runner answers; `failed` may replace any answer but `confined`. After `ready`
the runner waits until *go* in the mailbox, a page that both have mapped, is the number of the
round; it sends `finished` and then writes that number to *done*. The same messages serve
correctness and timing, GPU and CPU, every language. They follow in the order of a session.
"""

_PARTS = (
    arguments.TensorArgument,
    arguments.ScalarArgument,
    arguments.TensorShape,
    arguments.Construct,
    arguments.ListedWeight,
    arguments.KernelLaunch,
    arguments.CompiledKernel,
)

_FAULTS = (
    f"Kinds of a fault: {', '.join(f'`{each}`' for each in messages.FaultCode)}. "
    f"Its text has at most {MAX_TEXT} characters."
)


def page() -> str:
    """The text of the page."""
    fields = _Fields()
    sections = [_HEAD]
    sections += [_section(each, fields) for each in MESSAGES.values() if not _is_bare(each)]
    sections += [f"## Parts of messages\n\n{paragraph(_FAULTS)}\n"]
    for part in _PARTS:
        kind = f" Its `type` is `{part.type}`." if part.type else ""
        sections += [
            f"### {part.__name__}\n\n{paragraph(_docstring(part) + kind)}\n\n{fields.of(part)}"
        ]
    return "\n".join(sections)


def _is_bare(message: type[Message]) -> bool:
    """Whether it is an answer that only says that all went well."""
    return issubclass(message, Answer) and not dataclasses.fields(message)


def _section(message: type[Message], fields: "_Fields") -> str:
    first, *rest = _docstring(message).split("\n\n")
    sent = "" if issubclass(message, Answer) else _answers(message)
    paragraphs = [*filter(None, [f"{first} {sent}".strip(), *rest])]
    text = "\n\n".join([f"## {message.type}", *(paragraph(each) for each in paragraphs)])
    descriptors = [(f"descriptor *{name}*", what) for name, what in message.descriptors.items()]
    return f"{text}\n\n{fields.of(message)}{listed(descriptors)}"


def _answers(message: type[Message]) -> str:
    """What the runner sends next; of an answer without fields here is all there is to say."""
    found = []
    for name in message.answers:
        answer = MESSAGES[name]
        if _is_bare(answer):
            found.append(f"`{name}` ({_lower(_docstring(answer).rstrip('.'))})")
        else:
            found.append(f"[`{name}`](#{name})")
    return f"Answered by {', then '.join(found)}." if found else ""


def _lower(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


class _Fields:
    """Lists of fields; one that an earlier message has in the same words refers to it."""

    def __init__(self) -> None:
        self._earlier: dict[tuple[str, str, str], str] = {}

    def of(self, record: type[WireRecord]) -> str:
        """The fields with types, defaults in brackets, and meanings."""
        meanings = _field_docstrings(record)
        lines = []
        again: dict[str, list[str]] = {}
        for field in dataclasses.fields(record):
            what = (field.name, _type(field.type), meanings[field.name])
            earlier = self._earlier.setdefault(what, record.type or record.__name__)
            if earlier == (record.type or record.__name__):
                meaning = _lower(what[2].rstrip("."))
                lines.append((f"`{field.name}` ({what[1]}){_default(field)}", meaning))
            else:
                again.setdefault(earlier, []).append(f"`{field.name}`{_default(field)}")
        lines += [(", ".join(names), f"as in `{earlier}`") for earlier, names in again.items()]
        return listed(lines)


def _field_docstrings(record: type) -> dict[str, str]:
    """The docstring under each field, inherited ones included."""
    found: dict[str, str] = {}
    for base in record.__bases__:
        if issubclass(base, WireRecord) and base is not WireRecord:
            found |= _field_docstrings(base)
    tree = ast.parse(textwrap.dedent(inspect.getsource(record)))
    body = typing.cast(ast.ClassDef, tree.body[0]).body
    for field, text in itertools.pairwise(body):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(str(words))):
                found[name] = " ".join(_plain(words).split())
    return found


def _type(kind: object) -> str:
    """A field's type in JSON's words."""
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if origin is types.UnionType:
        return " or ".join(dict.fromkeys(map(_type, inside)))
    if origin is tuple and inside[-1] is not Ellipsis:
        return f"[{', '.join(map(_type, inside))}]"
    if origin is tuple:
        return f"array of ({_type(inside[0])})" if _is_union(inside[0]) else _array(inside[0])
    if origin is dict:
        return f"object of {_type(inside[1])}s" if inside[1] is not object else "object"
    if origin is typing.Literal:
        return " or ".join(f'`"{each}"`' for each in inside)
    if isinstance(kind, type) and issubclass(kind, WireRecord):
        return f"[{kind.__name__}](#{kind.__name__.lower()})"
    return _WORDS[kind]


def _is_union(kind: object) -> bool:
    return typing.get_origin(kind) is types.UnionType


def _array(kind: object) -> str:
    return f"array of {_type(kind)}"


_WORDS: dict[object, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    object: "any",
    types.NoneType: "null",
    messages.FaultCode: "kind of fault",
}


def _default(field: "dataclasses.Field[object]") -> str:
    return "" if field.default is dataclasses.MISSING else f" [`{json.dumps(field.default)}`]"


def _docstring(record: type) -> str:
    """The docstring; a line for each paragraph."""
    text = _plain(inspect.getdoc(record) or "")
    return "\n\n".join(" ".join(each.split()) for each in text.split("\n\n"))


def _plain(docstring: str) -> str:
    return docstring.replace("``", "`")
