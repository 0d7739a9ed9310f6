"""The contract between a submission and its caller, which the names that the file defines decide.

``solution`` and ``solve`` take the problem's parameters in order and fill the outputs;
``custom_kernel`` takes a tuple and ``ModelNew`` is a module, and both return their outputs, as
several functions do that a format names. :mod:`harness.runner.entry.contracts` has these made in
the judge's buffers or copies them there. The rules are in ``docs/how-to/writing-solutions.md``.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from harness.problem.gradable import Gradable
from harness.problem.signature import python_signature
from harness.problem.terms import Role
from harness.wire.arguments import AND


class EntryPoint(StrEnum):
    """The names that an entry point may have."""

    SOLUTION = "solution"
    SOLVE = "solve"
    CUSTOM_KERNEL = "custom_kernel"
    MODEL_NEW = "ModelNew"
    RUN = "run"
    FUNCTIONS = "functions"
    """Several, whose names a problem's format says: one call is all, one after the other."""

    @property
    def in_c(self) -> bool:
        """Whether it may be written in CUDA C++."""
        return self in (EntryPoint.SOLUTION, EntryPoint.SOLVE)

    @property
    def returns(self) -> bool:
        """Whether outputs are returned rather than filled."""
        return not self.in_c


_ASKED_FOR = (EntryPoint.RUN, EntryPoint.FUNCTIONS)
USUAL = tuple(entry for entry in EntryPoint if entry not in _ASKED_FOR)
"""Those that name a submission wherever they are; others do where a problem asks for them."""


class AmbiguousError(ValueError):
    """A file defines several entry points, and not ``solution``, which would go first."""


@dataclass(frozen=True, slots=True)
class Contract:
    """How a runner calls a submission."""

    entry: EntryPoint = EntryPoint.SOLUTION
    """The function or class that is called."""
    parameters: tuple[tuple[str, str], ...] = ()
    """Name and kind of the problem's parameters, in order: ``in``, ``out`` or ``inout`` for a
    tensor, ``size``, or ``scalar``, also for a size that is in no tensor's shape or strides."""
    functions: tuple[str, ...] = ()
    """The names of several functions, in the order in which they are called."""

    @property
    def called(self) -> str:
        """What a runner is told of the entry point."""
        return AND.join(self.functions) or self.entry.value


IN_ORDER = Contract()
"""``solution``, called by position."""


def contract(entry: EntryPoint, problem: Gradable) -> Contract:
    """The contract of a submission to ``problem`` that defines ``entry``."""
    tensors = problem.declared.tensors if problem.declared is not None else ()
    shapes = {name for p in tensors for each in (*p.shape, *p.strides) for name in each.names}
    kinds = []
    for p in problem.parameters:
        role = Role.SCALAR if p.role is Role.SIZE and p.name not in shapes else p.role
        kinds.append((p.name, p.direction or role))
    functions = names_of(problem.entry) if entry is EntryPoint.FUNCTIONS else ()
    return Contract(entry, tuple(kinds), functions)


def names_of(entry: str) -> tuple[str, ...]:
    """The names in what a problem's format asks for."""
    return tuple(entry.split(AND))


def entry_named(entry: str) -> EntryPoint:
    """The entry point that a problem's format, or the program of a reference, names."""
    return EntryPoint.FUNCTIONS if len(names_of(entry)) > 1 else EntryPoint(entry)


def choose_entry(defined: Collection[str]) -> EntryPoint | None:
    """The entry point of a file that defines these names; None if it defines none.

    Raises:
        AmbiguousError: there are several, and ``solution`` is not one.
    """
    found = [entry for entry in USUAL if entry in defined]
    if len(found) > 1 and found[0] is not EntryPoint.SOLUTION:
        raise AmbiguousError(f"defines {' and '.join(found)}: keep one, or call it solution")
    return found[0] if found else None


C_TEXT = r"//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)|\"(?:[^\"\\\n]|\\.)*\"?"
"""Pattern of a comment or a string in C++."""

_C_WORDS = re.compile(rf"{C_TEXT}|\b(solution)\b|\bvoid[ \t\n]+(solve)[ \t\n]*\(")


def c_entry(text: str) -> EntryPoint:
    """The entry point of a CUDA C++ file: ``solve`` if that is declared and ``solution`` not named.

    Comments and strings do not count. Whether it is really defined the linker finds out.
    """
    words = {word[word.lastindex] for word in _C_WORDS.finditer(text) if word.lastindex}
    return EntryPoint.SOLVE if words == {"solve"} else EntryPoint.SOLUTION


def wanted_in_python(problem: Gradable) -> str:
    """The entry points that a Python file may define, for a message where it has none."""
    if problem.entry:
        names = names_of(problem.entry)
        kind = "a class" if problem.entry == EntryPoint.MODEL_NEW else "a function"
        how = f"{kind}, as {problem.format} calls it"
        if len(names) > 1:
            how = f"functions, as {problem.format} calls them"
        return "".join(f"    {name}\n" for name in names) + f"({how})"
    return (
        f"    {python_signature(problem)}\n"
        "or solve with the same parameters, custom_kernel(data) or class ModelNew "
        "(docs/how-to/writing-solutions.md)"
    )
