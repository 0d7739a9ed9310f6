"""A problem's expressions over sizes as C++: ``m * n``, ``(n + 15) / 16``.

They are dimensions and strides, so positive whole numbers; all arithmetic is in ``size_t``.
"""

import ast

from harness.errors import HarnessError
from harness.problem.expressions import Expression
from harness.problem.model import Problem

_SUM, _PRODUCT, _ATOM = 1, 2, 3
_WIDE = frozenset({"size_t", "uint64_t"})
_LARGEST_POWER = 4


def c_expression(expression: Expression, problem: Problem, *, factor: bool = False) -> str:
    """``expression`` as C++; ``factor`` puts parentheses where it is to be multiplied.

    Sizes of other types than ``size_t`` are converted first, so that no product overflows.
    """
    narrow = frozenset(p.name for p in problem.sizes if p.type not in _WIDE)
    text, rank = _text(expression.tree, narrow)
    return f"({text})" if factor and rank < _PRODUCT else text


def _text(node: ast.expr, narrow: frozenset[str]) -> tuple[str, int]:
    """The C++, and how tightly its outermost operator binds."""

    def of(child: ast.expr, rank: int) -> str:
        text, own = _text(child, narrow)
        return text if own >= rank else f"({text})"

    match node:
        case ast.Constant(value=int() | float() as value):
            return str(int(value) if value == int(value) else value), _ATOM
        case ast.Name(id=name):
            return (f"size_t({name})" if name in narrow else name), _ATOM
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _text(operand, narrow)
        case ast.UnaryOp(operand=operand):
            return f"0 - {of(operand, _PRODUCT)}", _SUM
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return f"{of(left, _SUM)} + {of(right, _SUM)}", _SUM
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return f"{of(left, _SUM)} - {of(right, _PRODUCT)}", _SUM
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(left, right, narrow)
        case ast.BinOp(left=left, op=op, right=right):
            sign = {ast.Mult: "*", ast.Mod: "%"}.get(type(op), "/")
            return f"{of(left, _PRODUCT)} {sign} {of(right, _ATOM)}", _PRODUCT
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _call(name, arguments, narrow)
    raise HarnessError(f"no C++ for {ast.dump(node)}")  # pragma: no cover - parsing refuses others


def _power(base: ast.expr, exponent: ast.expr, narrow: frozenset[str]) -> tuple[str, int]:
    text, own = _text(base, narrow)
    factor = text if own == _ATOM else f"({text})"
    raised, rank = _text(exponent, narrow)
    if text == "2":
        return f"(size_t(1) << {raised if rank == _ATOM else f'({raised})'})", _ATOM
    if raised.isdigit() and 1 <= int(raised) <= _LARGEST_POWER:
        return " * ".join([factor] * int(raised)), _PRODUCT
    return f"size_t(pow({_real(base)}, {_real(exponent)}))", _ATOM


def _call(name: str, arguments: list[ast.expr], narrow: frozenset[str]) -> tuple[str, int]:
    if name == "sizeof":
        return "sizeof(VAR)", _ATOM
    texts = [_text(argument, narrow)[0] for argument in arguments]
    if name in ("min", "max"):
        sign = "<" if name == "min" else ">"
        chosen = texts[0]
        for text in texts[1:]:
            chosen = f"({chosen} {sign} {text} ? {chosen} : {text})"
        return chosen, _ATOM
    (argument,), (text,) = arguments, texts
    match name, argument:
        case "abs", _:
            return f"({text})", _ATOM
        case "ceil" | "floor", ast.BinOp(left=left, op=ast.Div(), right=right):
            over = _text(left, narrow)[0]
            under, rank = _text(right, narrow)
            under = under if rank == _ATOM else f"({under})"
            over = f"({over} + {under} - 1)" if name == "ceil" else f"({over})"
            return f"{over} / {under}", _PRODUCT
    return f"size_t({name}({_real(argument)}))", _ATOM


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
            a, b = _real(left), _real(right)
            if isinstance(op, ast.Pow):
                return f"pow({a}, {b})"
            if isinstance(op, ast.FloorDiv):
                return f"floor({a} / {b})"
            if isinstance(op, ast.Mod):
                return f"fmod({a}, {b})"
            sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}[type(op)]
            return f"({a} {sign} {b})"
        case ast.Call(func=ast.Name(id="sizeof")):
            return "double(sizeof(VAR))"
        case ast.Call(func=ast.Name(id=name), args=arguments):
            chosen = _real(arguments[0])
            if name in ("min", "max"):
                for argument in arguments[1:]:
                    chosen = f"f{name}({chosen}, {_real(argument)})"
                return chosen
            return f"{'fabs' if name == 'abs' else name}({chosen})"
    raise HarnessError(f"no C++ for {ast.dump(node)}")  # pragma: no cover - parsing refuses others
