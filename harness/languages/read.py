"""Read a submitted file: its code, language, problem and author. It is never run.

A file may lie anywhere; in ``solutions/<problem>/<author>/<name>.cu`` (or ``.py``) its place names
the problem and the author, in ``problems/<problem>/…`` the problem. One of its first
:data:`HEADER_LINES` lines may say which data types it is written for, and of a .cu file which
libraries it uses::

    // dtypes: float32, float16        (in a .cu file)
    // uses: cutlass, cublasLt
    # dtypes: float32                  (in a .py file)

A ``.txt`` or ``.md`` file is a language model's output; the submission is the code in it
(:mod:`harness.solution.generation`). So is a record of JSON lines, ``samples.jsonl:3``
(:mod:`harness.solution.generation.sample_file`); and the name of a sample of KernelBench's says
model and problem (:mod:`harness.solution.wanted`).
"""

import os
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from harness.languages import LANGUAGES
from harness.problem.dtypes import DTYPES, dtype_meant
from harness.problem.libraries import LIBRARIES, UnknownLibrary, library_names
from harness.records.refs import Generation, SolutionRef
from harness.records.result import Reason, Result
from harness.solution.contents import (
    FileError,
    as_text,
    read_bytes,
    unknown,
    unprintable,
    within_limits,
)
from harness.solution.generation.code import suffix_of
from harness.solution.generation.extract import NoCode, extract
from harness.solution.generation.record import UNKNOWN, Sample, read_record, text_sample
from harness.solution.generation.sample_file import (
    Place,
    RecordError,
    lies_at,
    record_at,
    sample_place,
)
from harness.solution.model import Invalid, Solution
from harness.solution.suffixes import CUDA, GENERATIONS, PYTHON
from harness.solution.wanted import Wanted, named
from harness.text.names import IN_WORDS, LONGEST, fit_name, is_name
from harness.text.plain import quoted

HEADER_LINES = 20
ANONYMOUS = "anonymous"

_HEADER = re.compile(r"^\s*(?://|#)\s*dtypes?\s*[:=]\s*(.*?)\s*$")
_USES = re.compile(r"^\s*//\s*uses\s*[:=]\s*(.*?)\s*$", re.IGNORECASE)


def read_solution(
    path: Path,
    *,
    submitted: bytes | None = None,
    problem: str | None = None,
    author: str | None = None,
) -> Solution | Invalid:
    """The submission in ``path``, or why it cannot be one; not opened if ``submitted`` is given.

    ``problem`` and ``author`` go before those in the path. An author in neither is the model of a
    generation, else ``anonymous``.
    """
    if not str(path).isprintable():
        return Invalid(unprintable(path), problem=problem or _safe(_place(path)[0]))
    sample: Sample | None = None
    try:
        place = sample_place(path)
        if place is not None:
            sample, submitted = _sample(place, submitted)
        submitted = read_bytes(path) if submitted is None else within_limits(submitted)
        return _parse(path, submitted, problem, author, sample)
    except FileError as error:
        about = _about(path, author, submitted, sample)
        problem = problem or _safe(_place(path)[0])
        wanted = _wanted(path, sample)
        return Invalid(f"{path}:{error}", reference=about, problem=problem, wanted=wanted)


def submitted_file(result: Result, stored: bytes | None) -> bytes | None:
    """The submitted file of ``result``: that in the store, else the one at the recorded path.

    None if there is neither. A path is relative to the current folder, and the file there must have
    the recorded hash.
    """
    if stored is not None:
        return stored
    recorded = result.solution
    if not recorded.path or "\0" in recorded.path or not is_there(Path(recorded.path)):
        return None
    found = read_solution(Path(recorded.path)).submitted
    return found if found is not None and sha256(found).hexdigest() == recorded.hash else None


def is_there(path: Path) -> bool:
    """Whether there is something at ``path``; of a record, whether there is its file."""
    return os.path.lexists(lies_at(path))


def code_of(result: Result, stored: bytes | None) -> str | None:
    """The code in :func:`submitted_file`; None without a file, or without code in it."""
    file = submitted_file(result, stored)
    if file is None:
        return None
    solution = read_solution(Path(result.solution.path), submitted=file)
    return solution.text if isinstance(solution, Solution) else None


def _parse(
    path: Path, submitted: bytes, problem: str | None, author: str | None, sample: Sample | None
) -> Solution | Invalid:
    text = as_text(submitted)
    suffix = path.suffix if sample is None else sample.suffix or GENERATIONS[0]
    if suffix == UNKNOWN:
        suffix = suffix_of(text) or PYTHON
    said = _said(path, sample)
    missing = sample.missing if sample else ""
    extracted = extract(text, said) if suffix in GENERATIONS and not missing else None
    generation = extracted.generation if extracted else said
    place_problem, place_author = _place(path)
    problem = problem or place_problem
    if author is None:
        author = place_author or _model_name(generation) or ANONYMOUS
    name = _name(path, sample)
    for what, value, remedy in (
        ("file name", name, "rename it"),
        ("author", author, "give another with --author"),
        ("problem", problem, "give it with --problem"),
    ):
        if value is not None and not is_name(value):
            reason = f"the {what} {quoted(value)} cannot be recorded; {remedy} ({IN_WORDS})"
            raise FileError(reason)
    wanted = _wanted(path, sample)
    if problem is None and generation is not None:
        header = "" if generation.problem == str(wanted) else generation.problem
        problem = wanted.name or header or None
    digest = sha256(submitted).hexdigest()
    if missing or isinstance(extracted, NoCode):
        about = SolutionRef(
            author=author,
            name=name,
            language="",
            hash=digest,
            path=str(path),
            generation=generation,
        )
        if isinstance(extracted, NoCode):
            missing, reason = extracted.message, extracted.reason
        else:
            reason = Reason.NO_CODE
        return Invalid(f"{path}: {missing}", reason, about, problem, submitted, wanted)
    source, code, above = submitted, path, 0
    if sample is not None:
        code = path.with_suffix(suffix)
    if extracted is not None:
        # Empty lines in front, so that compilers name the lines of the file itself.
        code, above = path.with_suffix(extracted.suffix), extracted.generation.line - 1
        text = "\n" * above + extracted.text
        source = text.encode()
    return Solution(
        path=path,
        display_path=str(path),
        submitted=submitted,
        source=source,
        text=text,
        author=author,
        name=name,
        problem=problem,
        language=_language(code, text),
        hash=digest,
        dtypes=_dtypes(text, above),
        uses=_uses(text, above) if code.suffix == CUDA else (),
        generation=generation,
        wanted=wanted,
    )


def _sample(place: Place, submitted: bytes | None) -> tuple[Sample | None, bytes]:
    """What the record at ``place`` says, and its text; nothing but the text if that is given."""
    if submitted is not None:
        return text_sample(submitted.decode("utf-8", "replace"), place.number), submitted
    try:
        record, line = record_at(place)
    except RecordError as error:
        raise FileError(str(error)) from None
    sample = read_record(record, place.file, place.number)
    return sample, sample.text.encode("utf-8", "replace") if sample.text else line


def _wanted(path: Path, sample: Sample | None) -> Wanted:
    if sample is not None:
        return sample.wanted
    found = named(path)
    return found.wanted if found else Wanted()


def _said(path: Path, sample: Sample | None) -> Generation | None:
    """What a record's keys, or a file's name, say of an output; None for other files."""
    found = sample or named(path)
    if found is None:
        return None
    about = Generation(model=found.model, problem=str(found.wanted), sample=found.sample)
    if not isinstance(found, Sample):
        return about
    return about.model_copy(update={"finish": found.finish, "tokens": found.tokens})


def _name(path: Path, sample: Sample | None) -> str:
    """The name of a submission; that of a record made fit to be one."""
    if sample is None:
        return path.stem
    return fit_name(sample.name) or "record"


def _about(
    path: Path, author: str | None, submitted: bytes | None, sample: Sample | None
) -> SolutionRef | None:
    """Whose file it is that is no submission, for its record; None if nothing says so."""
    generation = _said(path, sample)
    author = _safe(author or _place(path)[1] or _model_name(generation) or None)
    name = _safe(_name(path, sample))
    if author is None or name is None:
        return None
    digest = "" if submitted is None else sha256(submitted).hexdigest()
    return SolutionRef(
        author=author, name=name, language="", hash=digest, path=str(path), generation=generation
    )


def _safe(name: str | None) -> str | None:
    return name if name is not None and is_name(name) else None


def _model_name(generation: Generation | None) -> str:
    """The model as an author: ``vendor/some model`` becomes ``vendor-some-model``."""
    model = generation.model if generation else ""
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", model).strip("-._+")[:LONGEST]


def _place(path: Path) -> tuple[str | None, str | None]:
    """Problem and author as far as the path says them."""
    place = os.path.abspath(path)  # noqa: PTH100 - links lead where the user did not write
    if found := re.search(r"/solutions/([^/]+)/([^/]+)/[^/]+\Z", place):
        return found[1], found[2]
    _, marker, rest = place.rpartition("/problems/")
    problem, inside, _ = rest.partition("/")
    return (problem if marker and inside else None), None


def _language(path: Path, text: str) -> str:
    for language in LANGUAGES.values():
        if language.claims(path, text):
            return language.name
    raise unknown(path)


def _dtypes(text: str, above: int) -> tuple[str, ...] | None:
    """The types in the header comment, if there is one; the code begins after ``above`` lines."""
    for number, value in _header(text, above, _HEADER):
        names = tuple(dict.fromkeys(re.findall(r"[^\s,]+", value)))
        if not names:
            raise FileError("dtypes: names no type", number)
        for name in names:
            if name not in DTYPES:
                hint = dtype_meant(name, DTYPES) or f" (one of {', '.join(DTYPES)})"
                raise FileError(f"dtypes: unknown type {quoted(name)}{hint}", number)
        return names
    return None


def _uses(text: str, above: int) -> tuple[str, ...]:
    """The libraries in the header comments, of one line or of several."""
    names: set[str] = set()
    for number, value in _header(text, above, _USES):
        words = re.findall(r"[^\s,]+", value)
        if not words:
            raise FileError("uses: names no library", number)
        try:
            names.update(library_names(words))
        except UnknownLibrary as unknown:
            raise FileError(f"uses: {unknown}", number) from None
    return tuple(name for name in LIBRARIES if name in names)


def _header(text: str, above: int, pattern: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """Number and value of each line of the header comment that matches ``pattern``."""
    lines = text.split("\n", above + HEADER_LINES)[above : above + HEADER_LINES]
    for number, line in enumerate(lines, start=above + 1):
        if match := pattern.match(line):
            yield number, match[1]
