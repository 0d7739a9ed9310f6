"""An author's file: loaded, its functions called by name, its lines blamed. Standard library."""

import inspect
import traceback
from collections.abc import Callable, Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType


def load_file(path: Path) -> ModuleType:
    """The module made of a file; whatever its code raises comes through."""
    spec = spec_from_file_location("problem_reference", path.absolute())
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_text(text: bytes, path: Path) -> ModuleType:
    """The module made of the ``text`` of a file, which need not be readable here; likewise."""
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    exec(compile(text, str(path), "exec"), vars(module))  # noqa: S102 - that is what it is for
    return module


def line_of(error: BaseException, path: Path) -> int:
    """The line of the file that an error came through last; 1 if through none."""
    here = path.absolute()  # as Python names the file of a module
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f.lineno for f in frames if Path(f.filename) == here and f.lineno]
    if isinstance(error, SyntaxError) and error.lineno:
        lines.append(error.lineno)
    return lines[-1] if lines else 1


def no_memory(error: BaseException) -> bool:
    """Whether the host's memory was too little, by Python or by PyTorch."""
    return isinstance(error, MemoryError) or "can't allocate memory" in str(error)


def first_line(function: object) -> int:
    """The line on which a function begins; 1 if that is not known."""
    return int(getattr(getattr(function, "__code__", None), "co_firstlineno", 1))


def named_arguments(
    function: Callable[..., object], given: Mapping[str, object]
) -> dict[str, object]:
    """Those of the arguments ``given`` that a function names; all where it takes any.

    Raises:
        TypeError: it cannot be called with these.
    """
    signature = inspect.signature(function)
    parameters = signature.parameters.values()
    takes_all = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    chosen = {n: value for n, value in given.items() if takes_all or n in signature.parameters}
    signature.bind(**chosen)
    return chosen
