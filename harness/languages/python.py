"""Languages that are Python files, PyTorch and those of the frameworks: checked, never run.

Python's own parser is not safe against hostile text (deep nesting has crashed it), so it runs in a
limited process of its own; the judge looks at tokens only.
"""

import io
import re
import signal
import sys
import tempfile
import tokenize
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, islice
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.errors import MachineError
from harness.frameworks import FRAMEWORKS, Framework
from harness.languages.base import Language
from harness.languages.build.cache import Cache
from harness.problem.gradable import Gradable
from harness.records.build import Build
from harness.records.result import Verdict
from harness.sandbox import scratch
from harness.sandbox.command import CommandResult, clean_environment, run_limited
from harness.solution import suffixes
from harness.solution.contract import (
    AmbiguousError,
    EntryPoint,
    choose_entry,
    contract,
    entry_named,
    names_of,
    wanted_in_python,
)
from harness.solution.model import Artifact, BuildFailure, Solution, Target

CHECK_S = 20.0
CHECK_BYTES = 2 << 30
"""Limits of one check, far above those of honest files: wall time and memory."""
ANSWER_BYTES = 64 << 10
MESSAGE_CHARACTERS = 500
MAX_TOKENS = 200_000
"""Takes 1.6 s in the worst case; the largest honest file has some thousands."""

MENTION = "cpp_extension"
"""The module by which PyTorch builds extensions; a file without this word builds none."""

_CARD = re.compile(r"""^[^#\n]*(?:["']cuda(?::\d+)?["']|\.cuda\()""", re.MULTILINE)
_ON_CPU = "the file names the device 'cuda', which is the CPU here"

_MAX_WORDS = 1000
"""Of one statement."""
_LINE_STARTS = {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
_SKIPPED = {tokenize.NL, tokenize.COMMENT}

CHECKER = r"""
import ast, json, sys, warnings
warnings.simplefilter("ignore")
answer = {"error": "", "line": 0, "column": 0, "text": "", "defines": [], "imports": []}
split = sys.argv.index("--")
entries, packages = set(sys.argv[1:split]) | {"*"}, set(sys.argv[split + 1:])
def bound(target):
    if isinstance(target, (ast.Tuple, ast.List)):
        return set().union(*map(bound, target.elts))
    return {target.id} if isinstance(target, ast.Name) else set()
def defined(body):
    names = set()
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names.update(*map(bound, node.targets))
        elif isinstance(node, ast.AnnAssign):
            names |= bound(node.target) if node.value is not None else set()
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {a.asname or a.name for a in node.names}
        else:
            parts = [getattr(node, f, []) for f in ("body", "orelse", "finalbody")]
            parts += [h.body for h in getattr(node, "handlers", [])]
            names.update(*(defined(p) for p in parts if isinstance(p, list)))
    return names
def imported(body):
    names = set()
    for node in body:
        if isinstance(node, ast.Import):
            names |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names |= {f"{node.module}.{a.name}" for a in node.names}
    return {p for p in packages for name in names if f"{name}.".startswith(f"{p}.")}
try:
    text = sys.stdin.buffer.read().decode("utf-8")
    compile(text, "solution.py", "exec", dont_inherit=True)
    body = ast.parse(text).body
    answer.update(defines=sorted(defined(body) & entries), imports=sorted(imported(body)))
except SyntaxError as error:
    answer.update(error=f"{type(error).__name__}: {error.msg}"[:300], line=error.lineno or 0,
                  column=error.offset or 0, text=(error.text or "").rstrip()[:200])
except (RecursionError, MemoryError):
    answer["error"] = "nested too deeply for Python's parser"
except (ValueError, OverflowError) as error:
    answer["error"] = f"{type(error).__name__}: {error}"[:300]
sys.stdout.write(json.dumps(answer))
"""
"""Reads a source from stdin and writes its fault, or the entry points in it, as JSON.

Also which of some packages it imports whatever happens: by a statement of its top level itself,
not by one that a ``try`` or an ``if`` is around.
"""


def cpu_notes(solution: Solution) -> tuple[str, ...]:
    """That ``device="cuda"`` is the CPU without a GPU, where a file in Python says so."""
    python = solution.language in (Python.name, "triton", *FRAMEWORKS)
    return (_ON_CPU,) if python and _CARD.search(solution.text) else ()


def needed_frameworks(language: str, text: str, imports: Sequence[str] = ()) -> list[Framework]:
    """The frameworks that a file is written in and imports, with those they build on for it."""
    own = [f for f in FRAMEWORKS.values() if f.name == language or f.imported in imports]
    below = [
        FRAMEWORKS[name]
        for framework in own
        for pattern, name in framework.builds_on
        if re.search(rf"^[^#\n]*{pattern}", text, re.MULTILINE)
    ]
    return [*dict.fromkeys([*own, *below])]


class _CheckerAnswer(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    error: str
    line: int
    column: int
    text: str
    defines: list[str]
    imports: list[str]


class Python(Language):
    """Python that calls PyTorch's own operations; base of the other languages that are Python."""

    name = "pytorch"
    suffix = suffixes.PYTHON
    imports = ""
    """The module whose import makes a file one of this language; empty for any file."""

    def claims(self, path: Path, text: str) -> bool:
        """A ``.py`` file that imports :attr:`imports`."""
        return super().claims(path, text) and (not self.imports or self.imports in imported(text))

    def build(
        self,
        solution: Solution,
        problem: Gradable,
        dtype: str,  # noqa: ARG002 (the Protocol's: nothing here depends on it)
        target: Target,
        cache: Cache,
    ) -> Artifact | BuildFailure:
        """Check the syntax, find the entry point, and build the extensions that it asks for.

        Raises:
            MachineError: the checking process cannot be started.
        """
        entries = (*EntryPoint, *names_of(problem.entry))
        packages = [framework.imported for framework in FRAMEWORKS.values()]
        with tempfile.TemporaryDirectory(prefix="check-", dir=scratch.home()) as folder:
            finished = run_limited(
                [sys.executable, "-I", "-S", "-c", CHECKER, *entries, "--", *packages],
                cwd=Path(folder),
                seconds=CHECK_S,
                memory_bytes=CHECK_BYTES,
                output_bytes=ANSWER_BYTES,
                environment=clean_environment(Path(folder)),
                stdin=solution.text.encode(),
            )
        answer = _answer(solution, finished)
        if isinstance(answer, BuildFailure):
            return answer
        entry = _entry(solution, problem, answer)
        if isinstance(entry, BuildFailure):
            return entry
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        seconds = finished.seconds
        artifact = Artifact(
            kind="python",
            target=target,
            source=solution.text,
            build=Build(seconds=seconds, cached=False, target=version, contract=entry.value),
            contract=contract(entry, problem),
            language=self.name,
        )
        reason = self._unusable(target) or self._unfit(solution.text, answer.imports, target)
        if reason:
            verdict = Verdict.NOT_EXECUTABLE_HERE
            return BuildFailure(verdict=verdict, message=reason, build=artifact.build)
        if MENTION not in solution.text:
            return artifact
        # Not at the top: most files never need the judge's side of a runner.
        from harness.languages.build.extensions import with_extensions

        return with_extensions(artifact, problem, cache)

    def _unusable(self, target: Target) -> str:  # noqa: ARG002 (for the languages of frameworks)
        """Why this target cannot run the language; empty if it can."""
        return ""

    def _unfit(self, text: str, imports: Sequence[str], target: Target) -> str:
        """What is wrong with a framework that a file needs on a card; empty if nothing is.

        An emulator says itself what it lacks.
        """
        if target.emulated:
            return ""
        needed = needed_frameworks(self.name, text, imports)
        if not needed:
            return ""
        # Not at the top: most files need no framework, and no command line a runner's environment.
        from harness.languages.build.framework_imports import known_fault

        faults = filter(None, map(known_fault, needed))
        return next((f"{each.reason}: {each.remedy} (harness doctor)" for each in faults), "")


class InFramework(Python):
    """Python that imports one framework."""

    def __init__(self, framework: Framework) -> None:
        self.name = framework.name
        self.imports = framework.imported
        self._framework = framework

    def _unusable(self, target: Target) -> str:
        title, oldest = self._framework.title, self._framework.capability
        if target.emulated:
            return f"{title} runs on NVIDIA GPUs alone, and there is none here (harness doctor)"
        if self._framework.version() is None:
            return f"{title} is not installed here: {self._framework.remedy}"
        if int((target.arch or "").removeprefix("sm_").rstrip("af")) < oldest:
            return f"{title} needs a card of sm_{oldest} or newer; this one is {target.arch}"
        return ""


LANGUAGES: tuple[Language, ...] = (*map(InFramework, FRAMEWORKS.values()), Python())
"""PyTorch comes last, for it claims what is left."""


@lru_cache(maxsize=4)  # each language asks for the same file
def imported(text: str) -> frozenset[str]:
    """The packages and modules that import statements of ``text`` name.

    ``import a.b`` names ``a`` and ``a.b``; ``from a import b`` the same, as far as can be seen.
    Comments and strings do not count, nor what follows the first :data:`MAX_TOKENS` tokens or the
    first fault of text that is not Python.
    """
    if "import" not in text:
        return frozenset()
    names: set[str] = set()
    statement: list[str] = []
    try:
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        for token in islice(tokens, MAX_TOKENS):
            if token.type in _SKIPPED:
                continue
            if token.type in _LINE_STARTS or token.string in (";", ":"):
                names |= _named(statement)
                statement = []
            elif len(statement) < _MAX_WORDS:
                statement.append(token.string)
    except (tokenize.TokenError, SyntaxError, ValueError):
        pass
    return frozenset(names | _named(statement))


def _named(statement: Sequence[str]) -> set[str]:
    """The names that one statement, given as its words, imports."""
    match statement:
        case ["import", *words]:
            return {name for path in _paths(words) for name in _prefixes(path)}
        case ["from", *words] if "import" in words:
            at = words.index("import")
            package = ",".join(_paths(words[:at]))
            inside = filter(str.isidentifier, _paths(words[at + 1 :]))
            paths = package, *(f"{package}.{name}" for name in inside)
            return {name for path in paths for name in _prefixes(path)}
    return set()


def _paths(words: Sequence[str]) -> list[str]:
    """The dotted names between commas, without parentheses and aliases."""
    text = " ".join(word for word in words if word not in ("(", ")")).replace(" . ", ".")
    return [part.partition(" as ")[0].strip() for part in text.split(",")]


def _prefixes(path: str) -> list[str]:
    """``a.b`` → ``a``, ``a.b``; nothing for what is relative, or is no path."""
    names = path.split(".")
    return [*accumulate(names, "{}.{}".format)] if all(map(str.isidentifier, names)) else []


def _failed(verdict: Verdict, message: str) -> BuildFailure:
    return BuildFailure(verdict=verdict, message=message)


def _answer(solution: Solution, finished: CommandResult) -> _CheckerAnswer | BuildFailure:
    """What the checker has found, or the failure that its end stands for."""
    shown = solution.display_path
    if finished.timed_out:
        return _failed(Verdict.TIME_LIMIT, f"parsing {shown} took more than {CHECK_S:g} s")
    killed = finished.returncode == -signal.SIGKILL
    if finished.over_memory or (killed and finished.near_memory_limit):
        reason = finished.memory_message(f"parsing {shown}", CHECK_BYTES)
        return _failed(Verdict.MEMORY_LIMIT, reason)
    if killed:  # no crash, no limit of ours
        reason = f"the check of {shown} was killed: is the machine out of memory? Grade again"
        return _failed(Verdict.INTERNAL_ERROR, reason)
    if finished.returncode < 0:
        reason = f"{shown}: is nested too deeply: it crashed Python's parser"
        return _failed(Verdict.COMPILE_ERROR, reason)
    if finished.returncode > 0:
        raise MachineError(f"the syntax check does not run: {finished.output[-300:].strip()}")
    try:
        answer = _CheckerAnswer.model_validate_json(finished.output)
    except ValidationError as error:
        raise MachineError(f"the syntax check gave no answer: {error}") from error
    if answer.error:
        return _failed(Verdict.COMPILE_ERROR, _syntax_error(shown, answer))
    return answer


def _entry(
    solution: Solution, problem: Gradable, answer: _CheckerAnswer
) -> EntryPoint | BuildFailure:
    """The entry point of a file that parses, or what it lacks."""
    shown = solution.display_path
    if problem.entry:
        missing = [name for name in names_of(problem.entry) if name not in answer.defines]
        entry = None if missing else entry_named(problem.entry)
    else:
        missing = [EntryPoint.SOLUTION.value]
        try:
            entry = choose_entry(answer.defines)
        except AmbiguousError as error:
            return _failed(Verdict.INVALID_SUBMISSION, f"{shown} {error}")
    if entry is None and "*" not in answer.defines:
        wanted = wanted_in_python(problem)
        reason = f"{shown} defines no {missing[0]} at its top level; define\n{wanted}"
        return _failed(Verdict.INVALID_SUBMISSION, reason)
    # What a star import may have brought.
    return entry or entry_named(problem.entry or EntryPoint.SOLUTION)


def _syntax_error(shown: str, answer: _CheckerAnswer) -> str:
    """The error as Python itself would show it: place, line, caret."""
    place = f"{shown}:{answer.line}" if answer.line else shown
    log = f"{place}: {answer.error}"[:MESSAGE_CHARACTERS]
    if answer.text:
        stripped = answer.text.lstrip()
        column = max(answer.column - 1 - (len(answer.text) - len(stripped)), 0)
        log += f"\n    {stripped}"
        if column <= len(stripped):
            log += "\n    " + re.sub(r"[^\t]", " ", stripped[:column]) + "^"
    return log
