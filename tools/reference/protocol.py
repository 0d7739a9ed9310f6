"""Makes docs/reference/protocol.md: every message of the protocol, from its record."""

import ast
import dataclasses
import inspect
import itertools
import json
import textwrap
import types
import typing
from collections.abc import Iterator

from harness.wire import arguments, messages
from harness.wire.messages import MAX_TEXT, MESSAGES, VERSION, Answer, Message
from harness.wire.transport import MAX_MESSAGE
from harness.wire.validation import WireRecord
from tools import ROOT

PAGE = ROOT / "docs/reference/protocol.md"

_HEAD = f"""# The protocol between judge and runner

Made from the code by `python -m tools.reference`; a test holds it up to date.

Each message is one packet of a Unix socket: a JSON object of at most {MAX_MESSAGE >> 10} KiB with a
`type` and the fields below; descriptors travel beside it. A field with a default may be missing; an
unknown, missing or ill-typed field breaks the protocol. This is version {VERSION}: the runner sends
it in `confined`, and the judge refuses another one as a fault of the machine. Text of a fault has
at most {MAX_TEXT} characters.

The judge sends, the runner answers; instead of any answer it may send `failed`. After `ready` it
waits until *go* in the mailbox, a page that both have mapped, is the number of the round; it sends
`finished` and then writes that number to *done*. The same messages serve correctness and timing,
GPU and CPU, every language.
"""

_PARTS = (
    arguments.TensorArgument,
    arguments.ScalarArgument,
    arguments.TensorShape,
    arguments.KernelLaunch,
    arguments.CompiledKernel,
)


def page() -> str:
    """The text of the page."""
    sections = [_HEAD, _overview()]
    sections += [_message(each) for each in MESSAGES.values()]
    sections += [f"## Parts of messages\n\n{_FAULTS}"]
    sections += [f"### {each.__name__}\n\n{_described(each)}" for each in _PARTS]
    return "\n".join(sections)


_FAULTS = f"The kinds of a fault: {', '.join(f'`{each}`' for each in messages.FaultCode)}.\n"


def _overview() -> str:
    rows = [
        (f"[`{each.type}`](#{each.type})", _sender(each), _answers(each), _first_sentence(each))
        for each in MESSAGES.values()
    ]
    return _table(("message", "sent by", "answered by", ""), rows)


def _message(message: type[Message]) -> str:
    sent = f"Sent by the {_sender(message)}"
    if not issubclass(message, Answer):
        sent += f"; answered by {_answers(message) or 'nothing'}"
    text = f"## {message.type}\n\n{sent}. {_described(message)}"
    if message.descriptors:
        rows = [(name, meaning) for name, meaning in message.descriptors.items()]
        text += "\n" + _table(("descriptor", ""), rows)
    return text


def _sender(message: type[Message]) -> str:
    return "runner" if issubclass(message, Answer) else "judge"


def _answers(message: type[Message]) -> str:
    return ", then ".join(f"`{each}`" for each in message.answers)


def _described(record: type[WireRecord]) -> str:
    """The docstring and a table of the fields."""
    text = _plain(inspect.getdoc(record) or "") + "\n"
    meanings = _field_docstrings(record)
    rows = [
        (f"`{field.name}`", _type(field.type), _default(field), meanings[field.name])
        for field in dataclasses.fields(record)
    ]
    if record.type and record not in MESSAGES.values():
        rows.insert(0, ("`type`", f'`"{record.type}"`', "", "What it is."))
    return text + ("\n" + _table(("field", "type", "default", ""), rows) if rows else "")


def _field_docstrings(record: type) -> dict[str, str]:
    """The docstring under each field, inherited ones included."""
    found: dict[str, str] = {}
    for base in record.__bases__:
        if issubclass(base, WireRecord):
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
    if field.default is dataclasses.MISSING:
        return ""
    return f"`{json.dumps(field.default)}`"


def _first_sentence(record: type) -> str:
    return _plain((inspect.getdoc(record) or "").split("\n\n")[0]).replace("\n", " ").rstrip(".")


def _plain(docstring: str) -> str:
    return docstring.replace("``", "`")


def _table(head: tuple[str, ...], rows: typing.Sequence[tuple[str, ...]]) -> str:
    lines: Iterator[tuple[str, ...]] = iter([head, ("---",) * len(head), *rows])
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
