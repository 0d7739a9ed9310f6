"""GPU MODE's tasks with several entry points: what their files say of them, found by reading.

Such a ``reference.py`` has a function ``reference_<part>`` for each part of a call, and
``generate_inputs``. What a submission calls its parts, and sizes that no test gives, are in the
file that runs the task. That file is not run here, so what it says counts as part of the task.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.errors import UsageError
from harness.formats.base import Source, SourceFile, defines
from harness.text.plain import plain
from harness.wire.arguments import AND

FACTS = "task.json"
"""The file in which a task's process finds what was read."""
_PARTS = "parts"
_PREFIX = "reference_"
_DRAW = "generate_inputs"
_SEED = "seed"
"""Its argument that a grade gives."""
_MOST_PARTS = 16
_LONGEST = 80
"""Characters of a name."""
_PART = re.compile(rf"^def[ \t]+{_PREFIX}(\w+)[ \t]*\(", re.MULTILINE | re.ASCII)
_DRAWN = re.compile(rf"^def[ \t]+{_DRAW}[ \t]*\(([^()]{{0,1000}})\)", re.MULTILINE)
_CALL = re.compile(rf"(?<!def )\b{_DRAW}\(([^()]{{0,1000}})\)")
_WORD = re.compile(r"\b[A-Za-z_]\w*", re.ASCII)
_NUMBER = r"\d{1,18}|\d{1,3}(?:_\d{3}){1,5}"
_CONSTANT = re.compile(rf"^(\w+)[ \t]*=[ \t]*({_NUMBER})[ \t\r]*(?:#|$)", re.MULTILINE | re.ASCII)
_BOUNDS = ("ATOL", "RTOL")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts of a call, and what their inputs are drawn with."""

    functions: Mapping[str, str]
    """A submission's function for each part, in the order of the reference's."""
    sizes: Mapping[str, int]
    """Arguments of ``generate_inputs`` that are the same for all tests."""

    @property
    def entry(self) -> str:
        """What a submission has to define."""
        return AND.join(self.functions.values())

    def added_to(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """What is told of a task, with the parts and, in its tests, the sizes."""
        cases = {key: [{**self.sizes, **case} for case in each] for key, each in facts.items()}
        return {**cases, _PARTS: [*self.functions.items()]}


def has_parts(reference: SourceFile) -> bool:
    """Whether a reference has several parts instead of the usual ``ref_kernel``."""
    text = _text(reference)
    usual = defines(text, "ref_kernel") or not defines(text, _DRAW)
    return not usual and len(set(_PART.findall(text))) > 1


def told_parts(source: Source) -> Mapping[str, str]:
    """The functions of a submission to a problem, by the reference's for the same part."""
    facts = next((each.text for each in source.files if each.name == FACTS), b"{}")
    return {_PREFIX + part: name for part, name in json.loads(facts).get(_PARTS, ())}


def parts_of(
    reference_file: SourceFile, main_file: SourceFile, tests: Sequence[Mapping[str, Any]]
) -> Parts:
    """What is read in a reference and in the file that runs it with ``tests``.

    Raises:
        UsageError: they do not say enough, or several things.
    """
    reference, main = _text(reference_file), _text(main_file)
    names = list(dict.fromkeys(_PART.findall(reference)))
    if len(names) > _MOST_PARTS:
        raise UsageError(f"its reference has {len(names)} parts")
    words = set(_WORD.findall(main))
    if not words.issuperset(("allclose", *_BOUNDS)):
        raise UsageError("what runs it does not compare by allclose with ATOL and RTOL")
    functions = {name: _function(name, words) for name in names}
    if len(set(functions.values())) < len(functions):
        raise UsageError("what runs it has one name for several parts")
    return Parts(functions=functions, sizes=_sizes(reference, main, tests))


def _text(file: SourceFile) -> str:
    return file.text.decode("utf-8", "replace")


def _function(part: str, words: set[str]) -> str:
    """What a submission calls a part: the one word that ends as the reference's function does."""
    ending = f"_{part}"
    found = [word for word in words if word.endswith(ending) and not word.startswith(_PREFIX)]
    found = [word for word in found if word != ending]
    if len(found) != 1 or len(found[0]) > _LONGEST:
        many = f": {', '.join(plain(word, 40) for word in sorted(found)[:4])}" if found else ""
        raise UsageError(
            f"what runs it does not say what a submission calls {plain(_PREFIX + part, 40)}{many}"
        )
    return found[0]


def _sizes(reference: str, main: str, tests: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """The constants of the main file that its calls of ``generate_inputs`` have in their places."""
    drawn = _DRAWN.search(reference)
    if drawn is None:
        raise UsageError(f"what its {_DRAW} takes cannot be read")
    constants = {name: int(number) for name, number in _CONSTANT.findall(main)}
    wanted = [each for each in _split(drawn[1]) if each not in ("*", "/")]
    taken = [each.partition("=")[0].partition(":")[0].strip() for each in wanted]
    found: dict[str, set[int]] = {}
    for call in _CALL.findall(main):
        for place, given in enumerate(_split(call)):
            name, named, value = given.rpartition("=")
            name = name.strip() if named else taken[place] if place < len(taken) else ""
            if value.strip() in constants:
                found.setdefault(name, set()).add(constants[value.strip()])
    sizes = {}
    for name, each in zip(taken, wanted, strict=True):
        if name == _SEED or all(name in test for test in tests):
            continue
        if len(values := found.get(name, set())) == 1:
            (sizes[name],) = values
        elif "=" not in each:
            raise UsageError(
                f"its {_DRAW} takes {plain(name, 40)}, which neither its tests nor what runs it say"
            )
    return sizes


def _split(arguments: str) -> list[str]:
    """Arguments between commas; none has one inside, for there are no brackets."""
    return [each.strip() for each in arguments.split(",") if each.strip()]
