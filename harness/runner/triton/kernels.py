"""Kernels as plain functions, with the names that they had, and what a launch of one gives."""

import ast
import inspect
from collections.abc import Iterator
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any, NoReturn

from triton.runtime import interpreter

from harness.runner.triton.fake_cuda import NotEmulated

_plain_run = interpreter.InterpretedFunction.run


class Launched:
    """What a card would have compiled, which some ask for figures, and launch again.

    The figures are those of a small kernel.
    """

    n_regs = 32
    n_spills = 0

    def __init__(self, kernel: interpreter.InterpretedFunction) -> None:
        self._kernel = kernel
        self.metadata = SimpleNamespace(
            name=kernel.__name__, num_ctas=1, num_stages=3, num_warps=4, shared=1024
        )

    def __getitem__(self, grid: object) -> object:
        return self._kernel[grid]

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotEmulated(f"Triton's interpreter compiles nothing that had {name}")

    def _init_handles(self) -> None:
        """There is nothing to load."""


def run(
    kernel: interpreter.InterpretedFunction, *args: Any, grid: Any, warmup: bool, **named: Any
) -> Launched:
    """Launch a kernel, unless only a warm-up is asked for."""
    _plain_run(kernel, *args, grid=grid, warmup=warmup, **named)
    return Launched(kernel)


class Rewriter(interpreter.FunctionRewriter):  # type: ignore[misc]
    """Rewrites a kernel as Triton's interpreter does.

    That executes the definition anew, so that a kernel loses what the function around it holds,
    and adds all names of its own to the submission's.
    """

    def _compile_and_exec(self, transformed_ast: ast.Module) -> FunctionType:
        """The kernel with the rewritten code, its own globals, closure, defaults, annotations."""
        plain: FunctionType = self.fn
        held = dict(zip(plain.__code__.co_freevars, plain.__closure__ or (), strict=True))
        # As if it were in a function that has what it holds.
        around = ast.parse(f"def around({', '.join(held)}): pass")
        outer = around.body[0]
        assert isinstance(outer, ast.FunctionDef)
        outer.body = transformed_ast.body
        whole = compile(ast.fix_missing_locations(around), self.filename, "exec", dont_inherit=True)
        code = next(c for c in _codes(whole) if c.co_name == plain.__name__)
        plain.__globals__.setdefault("interpreter_semantic", interpreter.interpreter_semantic)
        closure = tuple(held[name] for name in code.co_freevars)
        kernel = FunctionType(code, plain.__globals__, plain.__name__, plain.__defaults__, closure)
        kernel.__kwdefaults__ = plain.__kwdefaults__
        kernel.__annotations__ = inspect.get_annotations(plain)
        return kernel


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The functions in ``code``, outer ones first."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)
