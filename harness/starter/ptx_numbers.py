"""A problem's expressions over sizes as PTX instructions on unsigned 64-bit registers.

They are dimensions and strides, so positive whole numbers.
"""

import ast
from collections.abc import Iterable
from functools import reduce

from harness.errors import UsageError
from harness.problem.dtypes import DTYPES
from harness.problem.expressions import Expression
from harness.problem.model import Problem
from harness.starter.ptx_types import parameter_type

_LARGEST_POWER = 4
_BINARY = {
    ast.Add: "add.u64",
    ast.Sub: "sub.u64",
    ast.Mult: "mul.lo.u64",
    ast.Div: "div.u64",  # exact where it is not inside of ceil or floor
    ast.FloorDiv: "div.u64",
    ast.Mod: "rem.u64",
}


class Numbers:
    """Instructions, in the order in which values are asked for; each size is loaded once.

    Registers are ``%v1``, ``%v2``, …, as many as :attr:`registers` says.
    """

    def __init__(self, problem: Problem, dtype: str) -> None:
        self.registers = 0
        self._lines: list[str] = []
        self._problem = problem
        self._dtype = dtype
        self._loaded: dict[str, str] = {}

    def take(self) -> list[str]:
        """The instructions since the last time."""
        lines, self._lines = self._lines, []
        return lines

    def value(self, expression: Expression) -> str:
        """What holds ``expression``: a register, or the number itself.

        Raises:
            UsageError: it takes more than whole numbers, such as a logarithm.
        """
        return self._value(expression.tree, expression)

    def product(self, factors: Iterable[str]) -> str:
        """What holds the product of what these hold."""
        several = [factor for factor in factors if factor != "1"] or ["1"]
        return reduce(lambda a, b: self.emit("mul.lo.u64", a, b), several)

    def emit(self, instruction: str, *operands: str) -> str:
        """A new register with the result of ``instruction``."""
        self.registers += 1
        register = f"%v{self.registers}"
        self._lines.append(f"{instruction} {', '.join([register, *operands])};")
        return register

    def _value(self, node: ast.expr, whole: Expression) -> str:
        match node:
            case ast.Constant(value=int() | float() as value) if value == int(value):
                return str(int(value))
            case ast.Name(id=name):
                return self._size(name)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self._value(operand, whole)
            case ast.UnaryOp(operand=operand):
                return self.emit("sub.u64", "0", self._value(operand, whole))
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                return self._power(left, right, whole)
            case ast.BinOp(left=left, op=op, right=right):
                operands = self._value(left, whole), self._value(right, whole)
                return self.emit(_BINARY[type(op)], *operands)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._call(name, arguments, whole)
        raise _too_much(self._problem, whole)

    def _size(self, name: str) -> str:
        if name not in self._loaded:
            parameter = next(p for p in self._problem.sizes if p.name == name)
            load = f"ld.param{parameter_type(parameter, self._dtype)}"
            self._loaded[name] = self.emit(load, f"[{name}]")
        return self._loaded[name]

    def _power(self, base: ast.expr, exponent: ast.expr, whole: Expression) -> str:
        factor, power = self._value(base, whole), self._value(exponent, whole)
        if not power.isdigit() or not 1 <= int(power) <= _LARGEST_POWER:
            raise _too_much(self._problem, whole)
        return self.product([factor] * int(power))

    def _call(self, name: str, arguments: list[ast.expr], whole: Expression) -> str:
        if name == "sizeof":
            return str(DTYPES[self._dtype].itemsize)
        match name, arguments:
            case "min" | "max", _:
                found = [self._value(argument, whole) for argument in arguments]
                return reduce(lambda a, b: self.emit(f"{name}.u64", a, b), found)
            case "abs", [argument]:
                return self._value(argument, whole)
            case "ceil" | "floor", [ast.BinOp(left=left, op=ast.Div(), right=right)]:
                over, under = self._value(left, whole), self._value(right, whole)
                if name == "ceil":
                    over = self.emit("sub.u64", self.emit("add.u64", over, under), "1")
                return self.emit("div.u64", over, under)
        raise _too_much(self._problem, whole)


def _too_much(problem: Problem, expression: Expression) -> UsageError:
    return UsageError(
        f"{problem.slug}: {expression} is more than a first version in PTX works out; start in "
        "another language"
    )
