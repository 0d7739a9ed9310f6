"""A problem's first version, written from the signature of its entry point.

It can be graded at once where an output has the shape of inputs: their sum is asked for until the
author says something else. What else to compute no signature tells.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.errors import UsageError
from harness.problem.dtypes import C_TYPES, DTYPES
from harness.starter.rendering import TEMPLATES, rendered
from harness.text.plain import quoted
from harness.text.suggest import did_you_mean

SIGNATURE = "const VAR x[n], const VAR y[n], VAR z[n], size_t n"
"""Of a problem that comes without one."""

_PROTOTYPE = re.compile(r'(?:extern\s+"C"\s+)?(?:void\s+)?\w+\s*\((?P<inside>.*)\)\s*;?', re.DOTALL)
_PARAMETER = re.compile(
    r"(?P<const>const\s+)?(?P<type>(?:(?:un)?signed\s+|long\s+)?[A-Za-z_]\w*)\s*(?P<pointer>\*?)\s*(?:__restrict__\s+)?"
    r"(?P<name>[A-Za-z_]\w*)\s*(?P<shape>(?:\[[^\[\]]+\]\s*)*)"
)
_SCALARS = ("float", "double")
_VAR = "VAR"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A parameter of the signature."""

    name: str
    """As it is called."""
    type: str
    """Of an element, or of the value."""
    const: str
    """``true`` for a tensor that is only read, else ``false``."""
    shape: tuple[str, ...] | None
    """Of a tensor; None for a number."""

    @property
    def size(self) -> bool:
        """Whether it is a whole number, by which shapes are told."""
        return self.shape is None and self.type not in _SCALARS


def declared(signature: str) -> list[Declared]:
    """The parameters of a C prototype, or of what stands between its parentheses.

    Tensors are ``const VAR a[m][k]``; ``const VAR* x`` is as long as the one size that there is.

    Raises:
        UsageError: it cannot be read, or does not say how large a tensor is.
    """
    prototype = _PROTOTYPE.fullmatch(signature.strip())
    inside = prototype["inside"] if prototype else signature
    read = [_PARAMETER.fullmatch(part.strip()) for part in inside.split(",")]
    if wrong := [p for p, match in zip(inside.split(","), read, strict=True) if match is None]:
        raise UsageError(
            f"--signature: {quoted(wrong[0].strip()[:80])} is no parameter; such as "
            "const VAR a[m][k], VAR* x, float alpha, size_t n"
        )
    found = [match for match in read if match is not None]
    sizes = [m["name"] for m in found if _is_size(m)]
    made = [_declared(match, sizes) for match in found]
    _require_sound(made)
    return made


def _is_size(match: re.Match[str]) -> bool:
    tensor = match["pointer"] or match["shape"]
    return not tensor and C_TYPES.get(match["type"], "").strip("u").startswith("int")


def _declared(match: re.Match[str], sizes: Sequence[str]) -> Declared:
    kind, name = match["type"], match["name"]
    if kind != _VAR and kind not in C_TYPES:
        hint = did_you_mean(kind, (_VAR, *C_TYPES))
        raise UsageError(f"--signature: {name}: unknown type {quoted(kind[:60])}{hint}")
    shape: tuple[str, ...] | None = None
    if match["shape"]:
        shape = tuple(each.strip() for each in re.findall(r"\[([^\[\]]+)\]", match["shape"]))
    elif match["pointer"]:
        if len(sizes) != 1:
            raise UsageError(
                f"--signature: {name}: how large is it? Say it as const {kind} {name}[m][k]"
            )
        shape = (sizes[0],)
    const = "true" if match["const"] else "false"
    return Declared(name=name, type=kind, const=const, shape=shape)


def _require_sound(parameters: Sequence[Declared]) -> None:
    names = [each.name for each in parameters]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"--signature: {twice[0]} stands there twice")
    if not any(each.shape is not None and each.const == "false" for each in parameters):
        raise UsageError("--signature: there is no output, a tensor without const: VAR z[n]")
    if not any(each.size for each in parameters):
        raise UsageError("--signature: there is no size: size_t n")
    for each in parameters:
        if each.size and not C_TYPES.get(each.type, "").strip("u").startswith("int"):
            raise UsageError(
                f"--signature: {each.name}: a number is a size (size_t, int, …), float or double"
            )


def title_of(slug: str) -> str:
    """``Vector Sum`` for ``vector-sum``."""
    return re.sub(r"[-_.+]+", " ", slug).strip().title() or slug


def package_files(slug: str, title: str, parameters: Sequence[Declared]) -> dict[str, str]:
    """The files of the package, by path."""
    named: dict[str, object] = {"slug": slug, "title": title, "parameters": parameters}
    about = named | _sizes(parameters) | _answer(parameters)
    return {
        "problem.md": rendered(TEMPLATES / "problem.md.jinja", about),
        "reference.py": rendered(TEMPLATES / "reference.py.jinja", about),
        "baselines/pytorch.py": rendered(TEMPLATES / "baseline.py.jinja", about),
    }


def _sizes(parameters: Sequence[Declared]) -> dict[str, object]:
    """Which sizes are drawn, and timed: some 30 million elements a tensor, on a CPU 4,000."""
    tensors = [each for each in parameters if each.shape is not None]
    rank = max(len(each.shape or ()) for each in tensors)
    always = (1, 2, 31, 32, 33, 255, 257, 1023, 4097) if rank == 1 else (1, 2, 15, 16, 17, 33)

    def timed(bits: int) -> list[str]:
        edge = 2 ** (bits // rank)
        return [_shape(parameters, edge, "1.5"), _shape(parameters, edge - 3, "-0.25")]

    return {
        "largest": {1: 100_000, 2: 300}.get(rank, 64),
        "always": always,
        "benchmarks": timed(25),
        "cpu_benchmarks": timed(12),
        "variable": any(each.type == _VAR for each in parameters),
        "flops": " + ".join(_product(each, "1") for each in tensors if each.const == "false"),
        "bytes": " + ".join(_product(each, _itemsize(each)) for each in tensors),
    }


def _shape(parameters: Sequence[Declared], size: int, scalar: str) -> str:
    numbers = [p for p in parameters if p.shape is None]
    return ", ".join(f"{p.name}: {size if p.size else scalar}" for p in numbers)


def _product(tensor: Declared, factor: str) -> str:
    factors = [f"({each})" if re.search(r"\W", each) else each for each in tensor.shape or ()]
    return " * ".join([factor, *factors] if factor != "1" else factors or ["1"])


def _itemsize(tensor: Declared) -> str:
    return "sizeof(VAR)" if tensor.type == _VAR else str(DTYPES[C_TYPES[tensor.type]].itemsize)


def _answer(parameters: Sequence[Declared]) -> dict[str, object]:
    """What is computed, for now: each output is the sum of the inputs of its shape."""
    inputs = [each for each in parameters if each.shape is not None and each.const == "true"]
    outputs = [each for each in parameters if each.shape is not None and each.const == "false"]
    scalars = [each.name for each in parameters if each.shape is None and not each.size]
    terms = {o.name: [i.name for i in inputs if i.shape == o.shape] for o in outputs}
    known = all(terms.values())
    values = {name: _sum(each, scalars) for name, each in terms.items()}
    sizes = [f"abs({name})" for name in scalars]
    weights = {n: _sum([f"{x}.abs()" for x in each], sizes) for n, each in terms.items()}
    given = [p for p in parameters if p not in outputs]
    listed = ", ".join(f"`{each.name}`" for each in outputs)
    return {
        "inputs": ", ".join(f"`{each.name}`" for each in given if not each.size) or "nothing",
        "outputs": listed,
        "sizes": ", ".join(f"`{each.name}`" for each in parameters if each.size),
        "formula": "; ".join(f"`{n} = {value}`" for n, value in values.items()) if known else "",
        "expected": _returned(values) if known else "",
        "weighed": _returned(weights) if known else "",
        "length": max(len(each) + len(scalars) for each in terms.values()) or 1,
        "arguments": ", ".join(f"{each.name}: {_annotation(each)}" for each in given),
        "names": ", ".join(each.name for each in parameters),
        "returns": "Tensor" if len(outputs) == 1 else "dict[str, Tensor]",
        "values": values,
    }


def _sum(terms: Sequence[str], scalars: Sequence[str]) -> str:
    """``alpha * (x + y)``."""
    added = " + ".join(terms)
    return " * ".join([*scalars, f"({added})" if scalars and len(terms) > 1 else added])


def _returned(values: Mapping[str, str]) -> str:
    if len(values) == 1:
        return next(iter(values.values()))
    return "{" + ", ".join(f'"{name}": {value}' for name, value in values.items()) + "}"


def _annotation(parameter: Declared) -> str:
    if parameter.shape is not None:
        return "Tensor"
    return "int" if parameter.size else "float"
