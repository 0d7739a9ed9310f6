"""Load a problem package: ``problem.md`` and what lies beside it. Never imports torch.

Everything that is wrong is reported at once, placed like a compiler's messages. A front matter
that is right but says too little to grade with (the original format has no shapes, for example)
still loads; :attr:`Problem.missing` says what it leaves open.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from harness.errors import ProblemError, UsageError
from harness.problem.dtypes import DTYPES, VARIABLE_TYPE, Kind
from harness.problem.expressions import ExpressionError
from harness.problem.fields import (
    FieldError,
    Fields,
    Report,
    as_text,
    one_of,
    whole_between,
)
from harness.problem.frontmatter import Data, printable, read_front_matter
from harness.problem.grading import (
    listing,
    read_amount,
    read_benchmarks,
    read_limits,
    read_tolerance,
)
from harness.problem.model import Parameter, Problem, Role
from harness.problem.parameters import read_parameters
from harness.problem.suggest import did_you_mean

STATEMENT_FILE = "problem.md"
REFERENCE_FILE = "reference.py"
DEFAULT_CASES = 12

_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}", re.ASCII)


def load_problem(folder: Path) -> Problem:
    """Load the package in ``folder``.

    Raises:
        ProblemError: with all that is wrong with it, in the order of the file.
    """
    path = folder / STATEMENT_FILE
    matter = read_front_matter(path)
    report = Report(path, matter, list(matter.diagnostics))
    problem = _read(Fields(report, matter.data, ()), folder, matter.statement)
    if report.diagnostics:
        raise ProblemError(report.in_order())
    return problem


def problem_slugs(root: Path) -> list[str]:
    """The slugs of all packages in ``root``, sorted; the folder's name where one does not load."""
    return sorted({slug or folder.name for folder, slug in _packages(root)})


def find_problem(root: Path, slug: str) -> Problem:
    """Load the package in ``root`` whose folder or slug is ``slug``.

    Raises:
        UsageError: there is none.
        ProblemError: there is, and it is wrong.
    """
    packages = _packages(root)
    for folder, _ in packages:
        if folder.name == slug:
            return load_problem(folder)
    for folder, declared in packages:
        if declared == slug:
            return load_problem(folder)
    known = sorted({declared or folder.name for folder, declared in packages})
    hint = did_you_mean(slug, known) or (f" (there are: {', '.join(known)})" if known else "")
    raise UsageError(f"no problem {printable(slug)!r} in {root}{hint}")


def _packages(root: Path) -> list[tuple[Path, str | None]]:
    """Every folder of ``root`` with a problem file, and its slug where that can be read."""
    found: list[tuple[Path, str | None]] = []
    if not root.is_dir():
        return found
    for folder in sorted(root.iterdir()):
        path = folder / STATEMENT_FILE
        if folder.name.startswith(".") or not path.is_file():
            continue
        try:
            found.append((folder, as_slug(read_front_matter(path).data.get("slug"))))
        except (ProblemError, FieldError):
            found.append((folder, None))
    return found


def as_slug(value: Data) -> str:
    """A slug: it becomes part of paths and URLs, so nothing but a-z, 0-9, - and _."""
    text = as_text(value)
    if not _SLUG.fullmatch(text):
        raise FieldError(f"{printable(text)!r} is no slug (a-z, 0-9, - and _, at most 64)")
    return text


def _read(fields: Fields, folder: Path, statement: str) -> Problem:
    """The whole front matter; complaints go to the report, and defaults take their place."""
    missing: list[str] = []
    slug = fields.need("slug", as_slug, "")
    title = fields.need("title", as_text, "")
    difficulty = fields.take("difficulty", as_text, "")
    author = fields.take("author", as_text, "")
    tags = fields.items("tags", as_text)
    parameters = read_parameters(fields, missing)
    _check_tensors(fields, parameters)
    baselines = _read_baselines(fields, folder)
    dtypes = _read_dtypes(fields, parameters)
    problem = Problem(
        slug=slug,
        title=title,
        difficulty=difficulty,
        author=author,
        tags=tags,
        parameters=parameters,
        statement=statement,
        folder=folder,
        hash=_hash(folder, baselines.values()),
        dtypes=dtypes,
        benchmarks=read_benchmarks(fields, "benchmarks", parameters),
        cpu_benchmarks=read_benchmarks(fields, "cpu_benchmarks", parameters),
        cases=fields.take("cases", whole_between(0, 1000), DEFAULT_CASES),
        tolerance=read_tolerance(fields, parameters),
        flops=read_amount(fields, "flops", parameters),
        bytes=read_amount(fields, "bytes", parameters),
        baselines=baselines,
        limits=read_limits(fields),
        missing=(*missing, *_left_open(fields, folder, dtypes)),
    )
    fields.close()
    return problem


def _left_open(fields: Fields, folder: Path, dtypes: tuple[str, ...]) -> Iterable[str]:
    """What the format has no need of, but grading has."""
    for name in dtypes:
        if DTYPES[name].kind is Kind.COMPLEX:
            yield f"no way yet to judge {name}"
    for key in ("dtypes", "tolerance", "benchmarks", "cpu_benchmarks", "flops", "bytes"):
        if key not in fields:
            yield f"no {key}"
    if "baselines" not in fields:
        yield "no baselines to compare times with"
    if not (folder / REFERENCE_FILE).is_file():
        yield f"no {REFERENCE_FILE} beside {STATEMENT_FILE}"


def _check_tensors(fields: Fields, parameters: tuple[Parameter, ...]) -> None:
    """Shapes use sizes only, are given for all tensors or none, and something is written."""
    sizes = [p.name for p in parameters if p.role is Role.SIZE]
    tensors = [(i, p) for i, p in enumerate(parameters) if p.role is Role.TENSOR]
    sections = [("parameters", i) for i, _ in tensors]
    shaped = any((*section, "shape") in fields.report.matter.lines for section in sections)
    for section, (i, parameter) in zip(sections, tensors, strict=True):
        if shaped and (*section, "shape") not in fields.report.matter.lines:
            what = "tensor" if parameter.direction == "in" else "output"
            fields.report.add(
                section,
                f"{what} {parameter.name} has no shape",
                key=f"parameters[{i}].shape",
            )
        for expression in parameter.shape:
            for name in sorted(expression.names - set(sizes)):
                hint = did_you_mean(name, sizes) or listing("sizes", sizes)
                fields.report.add((*section, "shape"), f"unknown size {name}{hint}")
        _check_dimensions(fields, i, parameter, parameters)
    if parameters and not any(p.direction != "in" for _, p in tensors):
        fields.complain("parameters", "no output: one pointer must have const: false")


def _check_dimensions(
    fields: Fields, index: int, parameter: Parameter, parameters: tuple[Parameter, ...]
) -> None:
    """Every dimension must be a positive whole number at both ends of the ranges."""
    sizes = [p for p in parameters if p.role is Role.SIZE]
    ends = {"lowest": {p.name: p.low for p in sizes}, "highest": {p.name: p.high for p in sizes}}
    for expression in parameter.shape:
        if expression.names - set(ends["lowest"]):
            continue
        for end, values in ends.items():
            try:
                length = expression.whole(values)
                if length < 1:
                    raise ExpressionError(f"{expression.text!r} is {length}, not positive")
            except ExpressionError as error:
                message = f"{error} with every size at its {end}"
                fields.report.add(("parameters", index, "shape"), message)
                break


def _read_dtypes(fields: Fields, parameters: tuple[Parameter, ...]) -> tuple[str, ...]:
    dtypes = fields.items("dtypes", one_of(tuple(DTYPES)), fewest=1)
    if len(set(dtypes)) != len(dtypes):
        fields.complain("dtypes", "names a data type twice")
    if dtypes and not any(p.type == VARIABLE_TYPE for p in parameters):
        fields.complain("dtypes", f"no parameter has the type {VARIABLE_TYPE}")
    return dtypes


def _read_baselines(fields: Fields, folder: Path) -> Mapping[str, Path]:
    """Name → file. The file must exist inside the package."""
    section = fields.section("baselines")

    def as_file(value: Data) -> Path:
        relative = PurePosixPath(as_text(value))
        path = folder / relative
        if relative.is_absolute() or ".." in relative.parts or "\\" in str(relative):
            raise FieldError(f"{relative} must be a path inside the package")
        if not path.resolve().is_relative_to(folder.resolve()):
            raise FieldError(f"{relative} leads out of the package")
        if not path.is_file():
            raise FieldError(f"there is no file {relative} in the package")
        return path

    files = {name: section.take(name, as_file, None) for name in section.rest()}
    for name in files:
        if not _SLUG.fullmatch(name):
            section.complain(name, "a baseline's name is made of a-z, 0-9, - and _")
    return {name: path for name, path in files.items() if path is not None}


def _hash(folder: Path, baselines: Iterable[Path]) -> str:
    """SHA-256 (hex) over the files that decide what a score means, with their names."""
    names = {STATEMENT_FILE, REFERENCE_FILE}
    names |= {path.relative_to(folder).as_posix() for path in baselines}
    digest = hashlib.sha256()
    for name in sorted(names):
        path = folder / name
        if path.is_file():
            content = path.read_bytes()
            digest.update(f"{len(name.encode())}:{name}{len(content)}:".encode())
            digest.update(content)
    return digest.hexdigest()
