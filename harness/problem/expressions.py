"""Read and evaluate arithmetic of problem files: ``2*m*n*k + 3*m*n``, ``sizeof(VAR)*(m + k)``.

Parsed with :mod:`ast` against a whitelist and evaluated by walking the tree, so a problem file
cannot run code. Length, depth and the size of every intermediate value are bounded. What is not
allowed, or has no finite real value, is an :class:`ExpressionError`.
"""

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Self

SIZEOF_VAR = "sizeof(VAR)"
"""Key under which :meth:`Expression.evaluate` looks for the bytes of one element of ``[VAR]``."""

MAX_CHARACTERS = 500
MAX_DEPTH = 40
MAX_VALUE = 2**200
"""No intermediate value may be larger; far beyond any count of operations or bytes."""

Number = int | float

_TOKENS = re.compile(
    r"(?:\s|[A-Za-z_]\w*|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?!\w)|[-+*/%(),])*", re.ASCII
)
_PRODUCT = re.compile(r"([1-9]\d*)([A-Za-z]\w*)", re.ASCII)
_BINARY: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_FUNCTIONS: dict[str, Callable[..., Number]] = {
    "min": min,
    "max": max,
    "abs": abs,
    "ceil": math.ceil,
    "floor": math.floor,
    "log2": math.log2,
    "sqrt": math.sqrt,
}
"""Of one argument, but ``min`` and ``max``, which take 2 to 8."""


class ExpressionError(ValueError):
    """An expression cannot be read, or has no sensible value; the message says why."""


@dataclass(frozen=True, slots=True)
class Expression:
    """One parsed expression. Two are equal when their texts are."""

    text: str
    names: frozenset[str] = field(compare=False)
    tree: ast.expr = field(compare=False, repr=False)

    @classmethod
    def parse(cls, source: str | int) -> Self:
        """Read ``source``."""
        text = str(source).strip()
        if not text:
            raise ExpressionError("the expression is empty")
        if len(text) > MAX_CHARACTERS:
            raise ExpressionError(f"longer than {MAX_CHARACTERS} characters")
        match = _TOKENS.match(text)
        position = match.end() if match else 0
        if position != len(text):
            product = _PRODUCT.match(text, position)
            hint = f" (a product is written {product[1]}*{product[2]})" if product else ""
            raise ExpressionError(f"unexpected {text[position]!r} in {text!r}{hint}")
        try:
            # The tokens above are Python's, so no warnings and no surprising literals.
            tree = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ExpressionError(f"{text!r} is not an arithmetic expression") from None
        names: set[str] = set()
        _check(tree, names, 0)
        return cls(text, frozenset(names), tree)

    def evaluate(self, values: Mapping[str, Number]) -> Number:
        """Its value where each name (:data:`SIZEOF_VAR`, too) has the value in ``values``."""
        try:
            return _evaluate(self.tree, values)
        except ZeroDivisionError:
            raise ExpressionError(f"{self.text!r} divides by zero") from None
        except ExpressionError:
            raise
        except (OverflowError, ValueError) as error:
            raise ExpressionError(f"{self.text!r} has no value: {error}") from None

    def whole(self, values: Mapping[str, Number]) -> int:
        """Its value, which must be a whole number, for shapes and counts."""
        value = self.evaluate(values)
        if value != int(value):
            raise ExpressionError(f"{self.text!r} is {value}, not a whole number")
        return int(value)

    def __str__(self) -> str:
        return self.text


def _check(node: ast.expr, names: set[str], depth: int) -> None:
    """Refuse all that is not in the whitelist; add the names used to ``names``."""
    if depth > MAX_DEPTH:
        raise ExpressionError(f"nested deeper than {MAX_DEPTH}")
    match node:
        case ast.Constant(value=bool()):
            raise ExpressionError("True and False are not numbers here")
        case ast.Constant(value=int() | float() as value):
            _bounded(value)
        case ast.Name(id=name):
            if name in _FUNCTIONS or name == "sizeof":
                raise ExpressionError(f"{name} is a function: write {name}(…)")
            if name == "VAR":
                raise ExpressionError(f"VAR is a type: write {SIZEOF_VAR}")
            names.add(name)
        case ast.UnaryOp(op=ast.UAdd() | ast.USub(), operand=operand):
            _check(operand, names, depth + 1)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            _check(left, names, depth + 1)
            _check(right, names, depth + 1)
        case ast.Call(func=ast.Name(id="sizeof"), args=arguments, keywords=[]):
            if not (len(arguments) == 1 and getattr(arguments[0], "id", "") == "VAR"):
                raise ExpressionError(f"the only sizeof is {SIZEOF_VAR}")
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            if name not in _FUNCTIONS:
                raise ExpressionError(
                    f"unknown function {name} (there are {', '.join(_FUNCTIONS)})"
                )
            several = name in ("min", "max")
            if not (2 <= len(arguments) <= 8 if several else len(arguments) == 1):
                count = "2 to 8 arguments" if several else "1 argument"
                raise ExpressionError(f"{name} takes {count}")
            for argument in arguments:
                _check(argument, names, depth + 1)
        case _:
            raise ExpressionError(
                "only numbers, names, + - * / // % **, "
                f"{', '.join(_FUNCTIONS)} and {SIZEOF_VAR} are allowed"
            )


def _evaluate(node: ast.expr, values: Mapping[str, Number]) -> Number:
    """The value of a tree that :func:`_check` has accepted."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.Name(id=name):
            return _look_up(name, values)
        case ast.UnaryOp(op=op, operand=operand):
            value = _evaluate(operand, values)
            return -value if isinstance(op, ast.USub) else value
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _evaluate(left, values), _evaluate(right, values)
            if isinstance(op, ast.Pow):
                _check_power(a, b)
            return _bounded(_BINARY[type(op)](a, b))
        case ast.Call(func=ast.Name(id="sizeof")):
            return _look_up(SIZEOF_VAR, values)
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _bounded(_FUNCTIONS[name](*(_evaluate(a, values) for a in arguments)))
    raise ExpressionError("not an expression")  # pragma: no cover - _check refuses all others


def _look_up(name: str, values: Mapping[str, Number]) -> Number:
    if name not in values:
        raise ExpressionError(f"no value for {name}")
    return _bounded(values[name])


def _check_power(base: Number, exponent: Number) -> None:
    """Refuse a power before Python computes an integer of a million digits, or a complex number."""
    if base and abs(exponent * math.log2(abs(base))) > math.log2(MAX_VALUE):
        raise ExpressionError(f"{base}**{exponent} is too large or too small")
    if base < 0 and exponent != int(exponent):
        raise ExpressionError(f"{base}**{exponent} is not real")


def _bounded(value: Number) -> Number:
    """``value``, if it is finite and at most :data:`MAX_VALUE` in magnitude."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ExpressionError("a value is not finite")
    if abs(value) > MAX_VALUE:
        raise ExpressionError("a value is too large")
    return value
