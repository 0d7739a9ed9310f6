"""One record of JSON lines: a model's output for a problem, by the keys that people give it.

Known are KernelBench's runs, CUDA-L1's releases and the solutions of flashinfer-bench, and others
of the same kind: keys are compared without case, and the first of a list that has a value counts.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from harness.solution.suffixes import SOURCES
from harness.solution.wanted import Wanted, said

_LEVEL = ("level", "level_id")
_NUMBER = ("problem_id", "task_id", "problem_number", "problem", "task")
_NAME = ("problem_name", "task_name", "definition", "op_name", "problem", "task", *_NUMBER[:2])
_MODEL = ("model", "model_name", "model_id", "llm", "author")
_SAMPLE = ("sample_id", "sample", "sample_index", "sample_idx", "completion_id", "attempt")
_REFERENCE = (
    *("ref_code", "ref_arch_src", "reference_code", "reference", "ref_src", "original_code"),
    *("pytorch_code_module", "pytorch_code", "problem"),
)
CODE = (
    *("custom_code", "custom_kernel", "kernel_code", "kernel_src", "kernel", "code"),
    *("generated_code", "generated_kernel", "cuda_code", "triton_code", "solution_code"),
)
"""Keys of source text."""
OUTPUT = (
    *("generation", "response", "completion", "raw_output", "model_output", "output", "answer"),
    *("solution", "text", "content"),
)
"""Keys of what a model said, in which code is looked for."""
_FINISH = ("finish_reason", "stop_reason", "finish")
_TOKENS = ("completion_tokens", "tokens_used", "output_tokens", "tokens")
_COLLECTIONS = ("samples", "generations", "generation", "outputs", "output", "results", "kernels")
_UNNAMED = (*_COLLECTIONS, "solutions", "solution", "completions", "data", "records", "all")
"""Names of files that say nothing of a model."""

UNKNOWN = "?"
"""The suffix of source text whose language is to be told by looking at it."""

_NOTHING = ("", "None", "null", "nan")
"""Text that is none: the last three as scripts write it."""

_FENCE = re.compile(r"^\s{0,3}(?:```|~~~)", re.MULTILINE)
_MOST_DIGITS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What a record says; all of it untrusted."""

    wanted: Wanted
    """The problem that it is for."""
    model: str
    """The model, by a key; else by the name of the file."""
    sample: str
    """Which of the model's outputs for the problem it is, by a key; empty if none says so."""
    name: str
    """Its name in results, before it is made fit to be one."""
    text: str
    """Source text, or what the model said; empty if there is none."""
    suffix: str
    """Of the source file that ``text`` is, or ``UNKNOWN``; empty where code is to be looked for."""
    missing: str = ""
    """Why there is no text."""
    finish: str = ""
    """Why the output ended."""
    tokens: int | None = None
    """Tokens of the output."""


def is_sample(record: object) -> bool:
    """Whether a record has a key of code or of an output: not what one of results has."""
    if not isinstance(record, Mapping):
        return False
    keys = {str(key).lower() for key in record}
    if "definition" in keys:
        return "sources" in keys
    return not keys.isdisjoint((*CODE, *OUTPUT[:-3]))


def read_record(record: Mapping[str, object], file: Path, number: int) -> Sample:
    """What the record with this number says."""
    keys = {str(key).lower().replace("-", "_"): value for key, value in record.items()}
    wanted = _wanted(keys)
    sample = _word(keys, _SAMPLE)
    text, suffix, missing = _sources(keys) if "sources" in keys else _text(keys)
    tokens = _number(keys, _TOKENS)
    return Sample(
        wanted=wanted,
        model=_word(keys, _MODEL) or _model_of(file),
        sample=sample,
        name=_name(keys, wanted, sample, file, number),
        text=text,
        suffix=suffix,
        missing=missing,
        finish=_word(keys, _FINISH),
        tokens=tokens,
    )


def text_sample(text: str, number: int) -> Sample:
    """A sample of which nothing but its text is left."""
    suffix = "" if _FENCE.search(text) else UNKNOWN
    name = f"record_{number}"
    return Sample(wanted=Wanted(), model="", sample="", name=name, text=text, suffix=suffix)


def _wanted(keys: Mapping[str, object]) -> Wanted:
    level, number = _number(keys, _LEVEL), _number(keys, _NUMBER)
    if level is None:  # level_1
        level = said(f"{_word(keys, _LEVEL)}/").level
    words = (value for key in _NAME if isinstance(value := keys.get(key), str) and _short(value))
    name = next((word for word in words if not word.isdecimal()), "")
    found = said(name) if number is None else Wanted(number=number, name=name)
    reference = next((v for k in _REFERENCE if isinstance(v := keys.get(k), str) and "\n" in v), "")
    return replace(found, level=level if level is not None else found.level, reference=reference)


def _name(keys: Mapping[str, object], wanted: Wanted, sample: str, file: Path, number: int) -> str:
    if "sources" in keys and isinstance(name := keys.get("name"), str) and _short(name):
        return name
    which = f"sample_{sample}" if sample else f"record_{number}"
    if wanted.number is not None:
        level = "" if wanted.level is None else f"level_{wanted.level}_"
        return f"{level}problem_{wanted.number}_{which}"
    return f"{wanted.name or file.stem}_{which}"


def _text(keys: Mapping[str, object]) -> tuple[str, str, str]:
    """The text, the suffix of its file if it is code alone, and why there is none."""
    there = [key for key in (*CODE, *OUTPUT) if key in keys]
    for key in there:
        value = keys[key]
        if isinstance(value, str) and value.strip() not in _NOTHING:
            whole = key in CODE and not _FENCE.search(value)
            return value, UNKNOWN if whole else "", ""
    if not there:
        return "", "", f"the record has no code: none of {', '.join(CODE[:6])}, {OUTPUT[0]}, …"
    value = keys[there[0]]
    kind = {"NoneType": "null", "str": "empty"}.get(name := type(value).__name__, name)
    if isinstance(value, str) and value.strip():
        kind = f'"{value.strip()}"'
    return "", "", f"the record has no code: its {there[0]} is {kind}"


def _sources(keys: Mapping[str, object]) -> tuple[str, str, str]:
    """The one source of a flashinfer solution."""
    sources = keys["sources"]
    if not isinstance(sources, list) or not sources:
        return "", "", "the solution has no sources"
    if len(sources) > 1:
        return "", "", f"the solution has {len(sources)} sources; one file is graded"
    (one,) = sources
    path, text = (one.get("path"), one.get("content")) if isinstance(one, Mapping) else ("", "")
    if not isinstance(path, str) or not isinstance(text, str) or not text.strip():
        return "", "", "the solution's source has no path, or no content"
    suffix = PurePosixPath(path).suffix
    return text, suffix if suffix in SOURCES else UNKNOWN, ""


def _model_of(file: Path) -> str:
    """The model by the name of the file, or of its folder where that says nothing."""
    if file.stem.lower() not in _UNNAMED:
        return file.stem
    return file.absolute().parent.name


def _word(keys: Mapping[str, object], names: tuple[str, ...]) -> str:
    """The first of the keys that has a short text, or a number, as text."""
    for name in names:
        value = keys.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**_MOST_DIGITS:
            return str(value)
        if isinstance(value, str) and _short(value):
            return value.strip()
    return ""


def _number(keys: Mapping[str, object], names: tuple[str, ...]) -> int | None:
    """The first of the keys that has a whole number, as one or in digits."""
    for name in names:
        value = keys.get(name)
        if isinstance(value, str) and value.isascii() and value.isdigit():
            value = int(value) if len(value) <= _MOST_DIGITS else None
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**_MOST_DIGITS:
            return value
    return None


def _short(value: str) -> bool:
    return 0 < len(value.strip()) <= 200 and "\n" not in value
