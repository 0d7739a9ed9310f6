"""Load a problem package: ``problem.md`` and what lies beside it. Never imports torch.

Everything that is wrong is reported at once, like a compiler's messages. A front matter that is
right but says too little to grade with (the original format has no shapes) still loads;
:attr:`Problem.missing` says what it leaves open.
"""

import contextlib
import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from harness.errors import Diagnostic, ProblemError, UsageError
from harness.problem.dtypes import C_TYPES, DTYPES, VARIABLE_TYPE
from harness.problem.expressions import ExpressionError, Number
from harness.problem.format import scoring
from harness.problem.format.fields import (
    FieldError,
    Fields,
    as_text,
    one_of,
    unknown_sizes,
    whole_between,
)
from harness.problem.format.frontmatter import Data, read_front_matter
from harness.problem.format.functions import check_functions
from harness.problem.format.parameters import read_parameters
from harness.problem.libraries import library_names
from harness.problem.model import REFERENCE_FILE, STATEMENT_FILE, Parameter, inexact_types
from harness.problem.package import Problem
from harness.problem.sizes import check_tensor, points
from harness.problem.terms import Direction, Role
from harness.text.plain import printable
from harness.text.suggest import did_you_mean

DEFAULT_CASES = 12

_RELATION = re.compile(r"^(sizes|parameters).*\.(range|case_range|equals)\b")
_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}", re.ASCII)


def load_problem(folder: Path) -> Problem:
    """Load the package in ``folder``.

    Raises:
        ProblemError: with all that is wrong with it, in the order of the file.
    """
    file = read_front_matter(folder / STATEMENT_FILE)
    problem = _read(Fields(file, file.data, ()), folder, file.statement)
    if file.diagnostics:
        raise ProblemError(sorted(file.diagnostics, key=lambda d: d.line))
    return problem


def problem_folders(root: Path) -> list[Path]:
    """Every folder of ``root`` with a problem file, sorted; none is read."""
    files = root.glob(f"[!.]*/{STATEMENT_FILE}")
    return sorted(file.parent for file in files if file.is_file())


def problem_slugs(root: Path) -> list[str]:
    """The slugs of all packages in ``root``, sorted; the folder's name where one does not load."""
    return sorted({slug or folder.name for folder, slug in packages(root)})


def versions(root: Path, slugs: Collection[str]) -> dict[str, str]:
    """The hash by slug of each package in ``root`` that loads and has one of ``slugs``."""
    wanted = frozenset(slugs)
    found: dict[str, str] = {}
    for folder in sorted(problem_folders(root), key=lambda each: each.name not in wanted):
        if wanted <= found.keys():
            break
        slug = _declared_slug(folder)
        if slug in wanted - found.keys():
            with contextlib.suppress(ProblemError):
                found[slug] = load_problem(folder).hash
    return found


def find_problem(
    root: Path, slug: str, known: Callable[[Path], list[tuple[Path, str | None]]] | None = None
) -> Problem:
    """Load the package in ``root`` whose folder or slug is ``slug``.

    ``known`` takes the place of :func:`packages`, for who looks for many.

    Raises:
        UsageError: there is none.
        ProblemError: there is, and it is wrong.
    """
    found = [folder for folder in problem_folders(root) if folder.name == slug]
    every = [] if found else (known or packages)(root)  # to read all takes half a second
    found += [folder for folder, declared in every if declared == slug]
    if found:
        return load_problem(found[0])
    slugs = sorted({declared or folder.name for folder, declared in every})
    hint = did_you_mean(slug, slugs) or (f" (there are: {', '.join(slugs)})" if slugs else "")
    raise UsageError(f"no problem {printable(slug)!r} in {root}{hint}")


def package_folders(root: Path, names: Sequence[str]) -> list[Path]:
    """The folder of each name: a folder, or a slug of a package in ``root``; all for no name.

    A package need not load to be found by its folder.

    Raises:
        UsageError: there is none of that name, or none at all.
        ProblemError: one that is found by its slug alone does not load.
    """
    if not names:
        every = problem_folders(root)
        if not every:
            raise UsageError(f"no problem in {root}")
        return every
    return list(dict.fromkeys(_folder(root, name) for name in names))


def _folder(root: Path, name: str) -> Path:
    for folder in (root / name, Path(name)):
        if (folder / STATEMENT_FILE).is_file():
            return folder
    return find_problem(root, name).folder


def namesakes(folder: Path, slug: str) -> list[Path]:
    """The other packages beside ``folder`` that have its ``slug``, too, sorted."""
    here = folder.resolve()
    found = packages(here.parent)
    return [other for other, declared in found if declared == slug and other.name != here.name]


def packages(root: Path) -> list[tuple[Path, str | None]]:
    """Every package in ``root``, and its slug where that can be read."""
    return [(folder, _declared_slug(folder)) for folder in problem_folders(root)]


def _declared_slug(folder: Path) -> str | None:
    with contextlib.suppress(ProblemError, FieldError):
        return as_slug(read_front_matter(folder / STATEMENT_FILE).data.get("slug"))
    return None


def as_slug(value: Data) -> str:
    """A slug: it becomes part of paths and URLs, so nothing but a-z, 0-9, - and _."""
    text = as_text(value)
    if not _SLUG.fullmatch(text):
        raise FieldError(f"{printable(text)!r} is no slug (a-z, 0-9, - and _, at most 64)")
    return text


def _read(fields: Fields, folder: Path, statement: str) -> Problem:
    """The whole front matter; where something is wrong, a complaint and a default."""
    missing: list[str] = []
    slug = fields.need("slug", as_slug, "")
    title = fields.need("title", as_text, "")
    difficulty = fields.take("difficulty", as_text, "")
    author = fields.take("author", as_text, "")
    tags = fields.items("tags", as_text)
    fields.pass_over("gpus")  # in Tensara's files those that it offers; here any will do
    unpassed, parameters = read_parameters(fields, missing)
    declared = (*unpassed, *parameters)
    _check_tensors(fields, parameters, declared)
    baselines = _read_baselines(fields, folder)
    dtypes = _read_dtypes(fields, parameters)
    _check_alignment(fields, parameters, dtypes)
    timed = scoring.read_benchmark_values(fields, parameters)
    check_functions(fields, folder / REFERENCE_FILE, unpassed, parameters)
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
        benchmarks=scoring.read_benchmarks(fields, "benchmarks", declared),
        cpu_benchmarks=scoring.read_benchmarks(fields, "cpu_benchmarks", declared),
        benchmark_values=timed,
        without_values=scoring.read_without_values(fields, timed),
        cases=fields.take("cases", whole_between(0, 1000), DEFAULT_CASES),
        tolerance=scoring.read_tolerance(fields, declared, dtypes),
        flops=scoring.read_amount(fields, "flops", declared),
        bytes=scoring.read_amount(fields, "bytes", declared),
        baselines=baselines,
        limits=scoring.read_limits(fields),
        libraries=fields.take("libraries", as_libraries, None),
        missing=(*missing, *_left_open(fields, folder, parameters, dtypes)),
        unpassed=unpassed,
    )
    fields.close()
    return problem


def _left_open(
    fields: Fields, folder: Path, parameters: tuple[Parameter, ...], dtypes: tuple[str, ...]
) -> Iterable[str]:
    """Say which optional keys and files are absent that grading needs."""
    if not dtypes and "dtypes" not in fields:
        yield "no dtypes"
    if "tolerance" not in fields and (inexact_types(parameters, dtypes) or not dtypes):
        yield "no tolerance"
    for key in ("benchmarks", "cpu_benchmarks", "flops", "bytes"):
        if key not in fields:
            yield f"no {key}"
    if "baselines" not in fields:
        yield "no baselines to compare times with"
    if not (folder / REFERENCE_FILE).is_file():
        yield f"no {REFERENCE_FILE} beside {STATEMENT_FILE}"


def _check_tensors(
    fields: Fields, parameters: tuple[Parameter, ...], declared: tuple[Parameter, ...]
) -> None:
    """Check that shapes use sizes only, stand at all tensors or none, and something is written."""
    file = fields.file
    sizes = [p.name for p in declared if p.role is Role.SIZE]
    tensors = [(i, p) for i, p in enumerate(parameters) if p.role is Role.TENSOR]
    shaped = [i for i, _ in tensors if ("parameters", i, "shape") in file.lines]
    for i, parameter in tensors:
        if shaped and i not in shaped:
            what = "tensor" if parameter.direction is Direction.IN else "output"
            file.complain(("parameters", i, "shape"), f"{what} {parameter.name} has no shape")
        for key, expressions in (("shape", parameter.shape), ("strides", parameter.strides)):
            for expression in expressions:
                for message in unknown_sizes(expression.names, sizes):
                    file.complain(("parameters", i, key), message)
    _check_places(fields, parameters, declared)
    if parameters and not any(p.direction is not Direction.IN for _, p in tensors):
        fields.complain("parameters", "no output: one pointer must have const: false")


def _check_places(
    fields: Fields, parameters: tuple[Parameter, ...], declared: tuple[Parameter, ...]
) -> None:
    """Check dimensions and strides at many sizes; at most one complaint for each tensor."""
    if any(_RELATION.search(d.key) for d in fields.file.diagnostics):
        return  # whatever is wrong here may come of that
    tensors = {i: p for i, p in enumerate(parameters) if p.role is Role.TENSOR}
    for where, values in points(declared):
        for i, p in list(tensors.items()):
            names = [e.names for e in (*p.shape, *p.strides)]
            if not frozenset[str]().union(*names) <= values.keys():
                continue
            if message := _misplaced(p, values):
                strides = p.strides and not _misplaced(replace(p, strides=()), values)
                key = "strides" if strides else "shape"
                fields.file.complain(("parameters", i, key), f"{message} {where}")
                del tensors[i]


def _misplaced(tensor: Parameter, values: Mapping[str, Number]) -> str:
    """What is wrong with dimensions or strides; empty if nothing is."""
    try:
        check_tensor(tensor, values)
    except ExpressionError as error:
        return str(error)
    return ""


def _check_alignment(
    fields: Fields, parameters: tuple[Parameter, ...], dtypes: tuple[str, ...]
) -> None:
    """Check that alignments are no less than an element's size."""
    for i, parameter in enumerate(parameters):
        if parameter.alignment is None or not parameter.type:
            continue
        known = dtypes if parameter.type == VARIABLE_TYPE else (C_TYPES[parameter.type],)
        for name in known:
            size, promised = DTYPES[name].itemsize, parameter.aligned_to(name)
            if promised % size:
                message = f"{promised} is less than the {size} bytes of a {name}: use sizeof(VAR)"
                fields.file.complain(("parameters", i, "alignment"), message)
                break


def _read_dtypes(fields: Fields, parameters: tuple[Parameter, ...]) -> tuple[str, ...]:
    """The data types of ``[VAR]``; without any that of the first output, in which it is graded."""
    dtypes = fields.items("dtypes", one_of(tuple(DTYPES)), min_items=1)
    if len(set(dtypes)) != len(dtypes):
        fields.complain("dtypes", "names a data type twice")
    types = [p.type for p in parameters]
    written = [p.type for p in parameters if p.direction in (Direction.OUT, Direction.INOUT)]
    if VARIABLE_TYPE in types or not written:
        return dtypes
    if dtypes:
        fields.complain("dtypes", f"no parameter has the type {VARIABLE_TYPE}: leave this out")
    return (C_TYPES[written[0]],) if written[0] else ()


def as_libraries(value: Data) -> tuple[str, ...] | None:
    """`any`, `none` or a list of [CUDA libraries](languages.md#libraries-in-cu-files)."""
    words: Mapping[str, tuple[str, ...] | None] = {"any": None, "none": ()}
    if isinstance(value, str) and value.strip().lower() in words:
        return words[value.strip().lower()]
    if not isinstance(value, list):
        raise FieldError("must be any, none or a list of libraries, such as [cublas, cutlass]")
    return library_names(map(as_text, value))


def _read_baselines(fields: Fields, folder: Path) -> Mapping[str, Path]:
    """Read baselines, name → file; each file must exist inside the package."""
    section = fields.section("baselines")

    def as_file(value: Data) -> Path:
        """The path of a file inside the package."""
        relative = PurePosixPath(as_text(value))
        shown = printable(str(relative))
        path = folder / relative
        if relative.is_absolute() or ".." in relative.parts or "\\" in str(relative):
            raise FieldError(f"{shown} must be a path inside the package")
        try:
            inside = path.resolve().is_relative_to(folder.resolve())
            there = path.is_file()
        except (OSError, ValueError, RuntimeError) as error:  # too long, NUL, links that go round
            reason = getattr(error, "strerror", None) or "no file can have this name"
            raise FieldError(f"{shown}: {reason}") from error
        if not inside:
            raise FieldError(f"{shown} leads out of the package")
        if not there:
            raise FieldError(f"there is no file {shown} in the package")
        return path

    files = {name: section.take(name, as_file, None) for name in section}
    for name in files:
        if not _SLUG.fullmatch(name):
            section.complain(name, "a baseline's name is made of a-z, 0-9, - and _")
    return {name: path for name, path in files.items() if path is not None}


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        complaint = Diagnostic(path, 1, "", f"cannot be read: {error.strerror}")
        raise ProblemError([complaint]) from error


def _hash(folder: Path, baselines: Iterable[Path]) -> str:
    """SHA-256 (hex) over the files that decide what a score means, with their names."""
    names = {STATEMENT_FILE, REFERENCE_FILE}
    names |= {path.relative_to(folder).as_posix() for path in baselines}
    digest = hashlib.sha256()
    for name in sorted(names):
        path = folder / name
        if path.is_file():
            content = _content(path)
            digest.update(f"{len(name.encode())}:{name}{len(content)}:".encode())
            digest.update(content)
    return digest.hexdigest()
