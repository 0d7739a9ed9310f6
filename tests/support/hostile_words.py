"""Text as a submitter would write it to trick whoever reads a report; records full of it."""

import re
import types
import typing
import unicodedata
from dataclasses import replace
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, Union

from hypothesis import strategies as st
from pydantic import BaseModel

from harness.problem.format.load import load_problem
from harness.problem.package import Problem
from harness.records.result import Verdict

PIECES = (
    "x",
    " ",
    "\n",
    "\r",
    "\t",
    "\b",
    "\0",
    "\x07",
    "\x1b[31m",
    "\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\",
    "\x1b]0;title\x07",
    "\x1bc",
    "\x1b",
    "\x9b2J",
    "\x9d0;t\x9c",
    "\x85",
    "\u202e",
    "\u2066",
    "\u200b",
    "\u200d",
    "\ufeff",
    "\u2028",
    "\u3164",
    "\u00ad",
    "\U000e0041",
    "\udc80",
    "[bold red]MARK[/bold red]",
    "[link=http://evil]MARK[/link]",
    "[/nope]",
    ":bomb:",
    "<script>alert(1)</script>",
    "&#27;[31m",
    "&#x202e;",
    "[a](http://evil)",
    "`code`",
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "＝1",
    "';=1",
    '";=HYPERLINK("http://evil")',
    "'",
    '"',
    ",",
    "::error::x",
    "::stop-commands::x",
    "::add-mask::x",
    "::set-output name=a::b",
    "::Warning file=a,line=1::x",
    ":",
    "#",
    "##[error]x",
    "##[group]x",
    "##vso[task.setvariable variable=a]b",
    "##teamcity[blockOpened name='a']",
    "error: ",
)
"""What each tries is said in docs/explanation/robustness.md."""

NASTY = st.lists(st.sampled_from(PIECES) | st.characters(), min_size=1, max_size=8).map("".join)
ALL = "".join(PIECES)
LINES = "\n".join(PIECES)

_COMMAND = re.compile(
    r"\s*::(add-mask|add-matcher|add-path|debug|echo|endgroup|error|group|notice|remove-matcher"
    r"|save-state|set-env|set-output|stop-commands|warning)\b",
    re.IGNORECASE,
)
_ANYWHERE = ("##[", "##vso[", "##teamcity[")
_READ_MARKUP = re.compile(r"(?<=[^\]\s])MARK")
"""The tag before it is gone; where a line was folded nothing can be said."""
_OURS = re.compile(r"\x1b\[[0-9;]*m")
"""Colours, which is all that we print."""


def complaint(output: str) -> str:
    """What in ``output`` would be interpreted, and by whom; empty if nothing."""
    output = _OURS.sub("", output)
    for line in output.split("\n"):
        for c in sorted(set(line)):
            if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") or c in "\u3164\u2800":
                return f"a terminal or the eye: {c!a} in {line!a}"
        if _COMMAND.match(line):
            return f"GitHub's runner: {line!a}"
        for word in _ANYWHERE:
            if word in line.lower():
                return f"a CI system: {line!a}"
    if "\U0001f4a3" in output:
        return "rich's emoji"
    if _READ_MARKUP.search(output):
        return "rich's markup"
    return ""


LITERALS: set[str] = set()
"""Words that a record's own types prescribe, as far as any was made."""


def filled(kind: Any, words: str, **given: Any) -> Any:
    """A value of the type ``kind`` in which every free text is ``words``; records are complete.

    Made from the annotations, so that a field that is added tomorrow is hostile, too. ``given``
    replaces fields of a record, by its name and theirs (``Result_cases``).
    """
    if isinstance(kind, typing.TypeAliasType if hasattr(typing, "TypeAliasType") else ()):
        return 1
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        return filled(arguments[0], words, **given)
    if origin in (Union, types.UnionType):
        chosen = next(each for each in arguments if each is not type(None))
        return filled(chosen, words, **given)
    if origin is Literal:
        LITERALS.add(str(arguments[0]))
        return arguments[0]
    if origin is tuple:
        inner = [each for each in arguments if each is not Ellipsis]
        return tuple(filled(each, words, **given) for each in inner)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        fields = {
            name: given[f"{kind.__name__}_{name}"]
            if f"{kind.__name__}_{name}" in given
            else filled(field.annotation, words, **given)
            for name, field in kind.model_fields.items()
        }
        return kind(**fields)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind))
    simple = {
        str: words,
        int: 1,
        float: 1.0,
        bool: False,
        datetime: datetime(2026, 1, 1, tzinfo=UTC),
    }
    return simple.get(kind, 1)


def accepted(words: str) -> Any:
    """An accepted result whose every text is ``words``."""
    from harness.records.cases import CaseResult
    from harness.records.result import Result

    passed = CaseResult(spec=words, passed=True, message=words)
    return filled(
        Result,
        words,
        Result_verdict=Verdict.ACCEPTED,
        Result_reason=None,
        Result_cases=(passed,),
        Result_shrunk=None,
        Measurement_sol_time_s=0.5,
    )


def not_accepted(verdict: Verdict, words: str) -> Any:
    """A result with any other verdict, likewise."""
    from harness.records.result import Result

    return filled(
        Result,
        words,
        Result_verdict=verdict,
        Result_reason=None,
        Result_measurements=(),
        Result_score=None,
    )


_SAMPLE = load_problem(Path(__file__).parents[2] / "problems/gemm-multiply-leakyrelu")


def hostile_problem(words: str) -> Problem:
    """A problem that has ``words`` wherever its author may write something."""
    return replace(
        _SAMPLE,
        slug=words,
        title=words,
        difficulty=words,
        author=words,
        tags=(words,),
        parameters=_SAMPLE.parameters[:1],
        statement=f"{words}\n\n- {words}\n\n```\n{words}\n```\n$ {words} $",
        missing=(words,),
        baselines={words: Path(words.replace("\0", ""))},
    )
