"""Makes Triton's language executable: all its builtins, under whatever name a kernel knows them.

Triton's interpreter puts other functions into the modules that it finds by name among a kernel's
globals, so that builtins imported one by one, under an alias or by a helper are not found. Here the
builtin itself is changed, whoever holds it, once and for good.
"""

import inspect
import sys
from collections.abc import Callable, Iterator
from types import FunctionType

import triton.language as tl
from triton.language.extra import libdevice
from triton.language.extra.cuda import libdevice as cuda_libdevice
from triton.runtime import interpreter

from harness.runner.triton.fake_cuda import refuse

_plain_patch = interpreter._patch_lang
_SCALES = hasattr(interpreter.InterpreterBuilder, "create_dot_scaled")
"""Whether this version can do it: the plain builder, which is to be replaced."""


def make_executable() -> None:
    """Change all builtins of the language; kernels and helpers then run as plain Python."""
    for builtin in set(_builtins()):
        # Its wrapper asks for an argument that only Triton's compiler gives.
        builtin.__code__ = _with_semantic.__code__
        builtin.__kwdefaults__ = {"_semantic": interpreter.interpreter_semantic}
    interpreter._patch_attr = lambda *_: None  # what would wrap the same builtins again
    interpreter._LangPatchScope = _Everywhere
    _plain_patch(FunctionType(_forwarded.__code__, {"tl": tl, "core": tl.core}))
    interpreter._patch_lang = lambda _function: _Everywhere()  # nothing is left to do
    if not _SCALES:
        dot_scaled = refuse("Triton's interpreter has no dot_scaled")
        _Everywhere().set_attr(tl, "dot_scaled", dot_scaled)
    # Stubs, which the compiler takes for those of the card at hand.
    for name, stub in inspect.getmembers(libdevice, inspect.isfunction):
        if stub.__module__ == libdevice.__name__:
            absent = refuse(f"Triton's interpreter has no libdevice.{name}")
            stub.__kwdefaults__ = {"_target": getattr(cuda_libdevice, name, absent)}
            stub.__code__ = _forwarded.__code__


def _builtins() -> Iterator[FunctionType]:
    """The builtins in the language's modules and their classes."""
    modules = [m for name, m in sys.modules.items() if name.startswith("triton.language")]
    classes = [c for m in modules for c in vars(m).values() if inspect.isclass(c)]
    for owner in [*modules, *(c for c in classes if c.__module__.startswith("triton."))]:
        for member in vars(owner).values():
            if tl.core.is_builtin(member) and hasattr(member, "__wrapped__"):
                yield member


def _template(fn: Callable[..., object]) -> FunctionType:
    """A function whose code fits Triton's wrapper of a builtin, which holds it as ``fn``."""

    def call(*args: object, _semantic: object, **named: object) -> object:
        return fn(*args, _semantic=_semantic, **named)

    assert isinstance(call, FunctionType)
    return call


def _forwarded(*args: object, _target: Callable[..., object], **named: object) -> object:
    return _target(*args, **named)


_with_semantic = _template(_forwarded)


class _Everywhere(interpreter._LangPatchScope):  # type: ignore[misc]
    """Replaces what only the compiler understands, such as loops and reductions, for good."""

    def set_attr(self, obj: object, name: str, value: Callable[..., object]) -> None:
        """Have the function or class that is ``name`` of ``obj`` do ``value``, else set it."""
        original = getattr(obj, name, None)
        if inspect.isclass(original) and original.__module__ == tl.core.__name__:
            # Ranges, which kernels may hold under other names.
            setattr(original, "__new__", lambda _, *args, **named: value(*args, **named))  # noqa: B010
        if tl.core.is_builtin(original):
            assert isinstance(original, FunctionType)
            assert original.__closure__ is not None
            original.__closure__[0].cell_contents = _without_semantic(value)
        else:
            setattr(obj, name, value)


def _without_semantic(function: Callable[..., object]) -> Callable[..., object]:
    def call(
        *args: object, _semantic: object, _generator: object = None, **named: object
    ) -> object:
        return function(*args, **named)

    return call
