"""A problem's expressions over sizes as C++: ``m * n``, ``(n + 15) / 16``.

They are dimensions and strides, so positive whole numbers; all arithmetic is in ``size_t``.
"""

import ast
from functools import reduce

from harness.errors import HarnessError
from harness.problem.expressions import Expression
from harness.problem.package import Problem

_SUM, _PRODUCT, _ATOM = 1, 2, 3
_INTEGER: dict[type[ast.operator], tuple[str, int, int]] = {
    ast.Add: ("+", _SUM, _SUM),
    ast.Sub: ("-", _SUM, _PRODUCT),
    ast.Mult: ("*", _PRODUCT, _ATOM),
    ast.Div: ("/", _PRODUCT, _ATOM),
    ast.FloorDiv: ("/", _PRODUCT, _ATOM),
    ast.Mod: ("%", _PRODUCT, _ATOM),
}
"""Operator in C++, how tightly it binds, and how tightly its right operand must."""
_REAL: dict[type[ast.operator], str] = {
    ast.Add: "({} + {})",
    ast.Sub: "({} - {})",
    ast.Mult: "({} * {})",
    ast.Div: "({} / {})",
    ast.FloorDiv: "floor({} / {})",
    ast.Mod: "({0} - floor({0} / {1}) * {1})",
    ast.Pow: "pow({}, {})",
}
_WIDE = frozenset({"size_t", "uint64_t"})
_LARGEST_POWER = 4


def c_expression(expression: Expression, problem: Problem, *, factor: bool = False) -> str:
    """``expression`` as C++; ``factor`` puts parentheses where it is to be multiplied.

    Sizes of other types than ``size_t`` are converted first, so that no product overflows. Where
    one may be negative, all is computed in ``double``.
    """
    negative = frozenset(p.name for p in problem.sizes if p.low < 0)
    if expression.names & negative:
        return f"size_t({_real(expression.tree)})"
    unpassed = frozenset(p.name for p in problem.unpassed)
    narrow = frozenset(p.name for p in problem.sizes if p.type not in _WIDE) - unpassed
    text, rank = _text(expression.tree, narrow)
    return f"({text})" if factor and rank < _PRODUCT else text


def _text(node: ast.expr, narrow: frozenset[str]) -> tuple[str, int]:
    """The C++, and how tightly its outermost operator binds."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return str(int(value) if value == int(value) else value), _ATOM
        case ast.Name(id=name):
            return (f"size_t({name})" if name in narrow else name), _ATOM
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _text(operand, narrow)
        case ast.UnaryOp(operand=operand):
            return f"0 - {_operand(operand, narrow, _PRODUCT)}", _SUM
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(left, right, narrow)
        case ast.BinOp(left=left, op=op, right=right):
            sign, own, inner = _INTEGER[type(op)]
            return f"{_operand(left, narrow, own)} {sign} {_operand(right, narrow, inner)}", own
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _call(name, arguments, narrow)
    raise HarnessError(f"no C++ for {ast.dump(node)}")  # pragma: no cover - parsing refuses others


def _operand(node: ast.expr, narrow: frozenset[str], rank: int = _ATOM) -> str:
    """The C++, in parentheses unless it binds as tightly as ``rank``."""
    text, own = _text(node, narrow)
    return text if own >= rank else f"({text})"


def _power(base: ast.expr, exponent: ast.expr, narrow: frozenset[str]) -> tuple[str, int]:
    factor, raised = _operand(base, narrow), _operand(exponent, narrow)
    if factor == "2":
        return f"(size_t(1) << {raised})", _ATOM
    if raised.isdigit() and 1 <= int(raised) <= _LARGEST_POWER:
        return " * ".join([factor] * int(raised)), _PRODUCT
    return f"size_t(pow({_real(base)}, {_real(exponent)}))", _ATOM


def _call(name: str, arguments: list[ast.expr], narrow: frozenset[str]) -> tuple[str, int]:
    match name, arguments:
        case "sizeof", _:
            return "sizeof(VAR)", _ATOM
        case "min" | "max", _:
            sign = "<" if name == "min" else ">"
            texts = [_text(argument, narrow)[0] for argument in arguments]
            return reduce(lambda a, b: f"({a} {sign} {b} ? {a} : {b})", texts), _ATOM
        case "abs", [argument]:
            return f"({_text(argument, narrow)[0]})", _ATOM
        case "ceil" | "floor", [ast.BinOp(left=left, op=ast.Div(), right=right)]:
            over, under = _text(left, narrow)[0], _operand(right, narrow)
            up = f" + {under} - 1" if name == "ceil" else ""
            return f"({over}{up}) / {under}", _PRODUCT
    return f"size_t({name}({_real(arguments[0])}))", _ATOM


def _real(node: ast.expr) -> str:
    """The same in ``double``, for what is rounded only afterwards: ``ceil(log2(n))``."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return repr(float(value))
        case ast.Name(id=name):
            return f"double({name})"
        case ast.UnaryOp(op=op, operand=operand):
            return f"-{_real(operand)}" if isinstance(op, ast.USub) else _real(operand)
        case ast.BinOp(left=left, op=op, right=right):
            return _REAL[type(op)].format(_real(left), _real(right))
        case ast.Call(func=ast.Name(id="sizeof")):
            return "double(sizeof(VAR))"
        case ast.Call(func=ast.Name(id="min" | "max" as name), args=arguments):
            return reduce(lambda a, b: f"f{name}({a}, {b})", map(_real, arguments))
        case ast.Call(func=ast.Name(id=name), args=[argument]):
            return f"{'fabs' if name == 'abs' else name}({_real(argument)})"
    raise HarnessError(f"no C++ for {ast.dump(node)}")  # pragma: no cover - parsing refuses others
