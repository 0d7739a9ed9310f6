"""What tasks of GPU MODE have in common, whatever their reference defines: tests, and seeds."""

import ast
import importlib
import inspect
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

from harness.formats.messages import ToldParameter
from harness.formats.process.adaptor import UngradableError, load_tree, reseeded, set_memory
from harness.formats.process.checks import compared
from harness.formats.process.cutting import less
from harness.formats.process.tested import Tested

_FEW_SEEDS = 1000
"""At least so many, where a task's own seed is small."""
_COMPARISONS = ("verbose_allclose", "verbose_allequal")


class Task(Tested):
    """One task, its ``task`` read and its reference loaded as ``_module``."""

    strided = True

    def __init__(self, path: Path) -> None:
        super().__init__()
        sys.path.insert(0, str(path.parent))
        self._task = told_task(path)
        self._cases: dict[str, Mapping[str, Any]] = {
            f"{kind}={number + 1}": case
            for kind in ("test", "benchmark")
            for number, case in enumerate(self._task[f"{kind}s"])
        }
        if (path.parent / "utils.py").is_file():
            _record_comparisons(importlib.import_module("utils"))
        self._module: Any = load_tree(ast.parse(path.read_bytes()), path, path.stem)

    def needs(self, *names: str) -> None:
        """Check that the reference defines these.

        Raises:
            UngradableError: it does not.
        """
        for name in names:
            if not callable(getattr(self._module, name, None)):
                raise UngradableError(f"its reference has no {name}: it has rules of its own")

    def keys(self) -> Sequence[str]:
        """Tests, then benchmarks."""
        return list(self._cases)

    def alike(self, parameters: Sequence[ToldParameter]) -> Sequence[object]:
        """Names and kinds: no signature says a type."""
        return [(each.name, each.kind) for each in parameters]

    def is_tried(self, key: str) -> bool:
        """Tests are; benchmarks where there are none."""
        return key.startswith("test=") or "test=1" not in self._cases

    def is_timed(self, key: str) -> bool:
        """Benchmarks are."""
        return key.startswith("benchmark=")

    def made(self, function: str, key: str, seed: int, factor: int, most: int | None = None) -> Any:
        """What a function of the reference draws, its sizes divided by a factor.

        It gets a seed that follows from ours if the task gives one, or if that may be as large as
        ``most``.
        """
        case = {name: _cut(name, value, factor) for name, value in self._cases[key].items()}
        own = case.get("seed", most)
        if own is not None:
            # Some make values of it, so it is no larger than the task's; reseeded() hides it.
            digest = sha256(f"{seed}|{key}|{own}".encode()).digest()
            case["seed"] = 1 + int.from_bytes(digest[:8], "big") % max(int(own), _FEW_SEEDS)
        with reseeded(seed), set_memory():
            return getattr(self._module, function)(**case)


def told_task(path: Path) -> dict[str, Any]:
    """What was read of the task, beside its reference."""
    task: dict[str, Any] = json.loads((path.parent / "task.json").read_bytes())
    return task


def _cut(name: str, value: Any, factor: int) -> Any:
    sized = factor > 1 and name != "seed" and type(value) is int
    return less(value, factor) if sized else value


def _record_comparisons(utils: ModuleType) -> None:
    """Have the helpers that compare tensors tell of their tolerance."""
    for name in _COMPARISONS:
        if callable(found := getattr(utils, name, None)):
            setattr(utils, name, _telling(found))


def _telling(function: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(function)

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        with compared(bound.arguments.get("rtol", 0.0), bound.arguments.get("atol", 0.0)):
            return function(*args, **kwargs)

    return called
