"""Errors as what another process says of them: plain values, which can be checked."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness import errors

_KINDS = {
    kind.__name__: kind
    for kind in (
        errors.UsageError,
        errors.ProblemError,
        errors.NoDeviceError,
        errors.MachineError,
        errors.HarnessError,
    )
}
"""What can be told, by name; a class of its own counts as the nearest of these."""


def error_parts(error: errors.JudgeError) -> dict[str, object]:
    """What is sent of an error, for :func:`error_of`."""
    name = next((c.__name__ for c in type(error).__mro__ if c.__name__ in _KINDS), "HarnessError")
    found = error.diagnostics if isinstance(error, errors.ProblemError) else ()
    places = [(str(d.path), d.line, d.key, d.message) for d in found]
    return {"kind": name, "text": str(error), "diagnostics": places}


def error_of(parts: Mapping[str, Any]) -> errors.JudgeError:
    """The error that :func:`error_parts` was given, or the nearest of its kind.

    Raises:
        KeyError, TypeError, ValueError: these are not its parts.
    """
    kind = _KINDS[parts["kind"]]
    if kind is errors.ProblemError:
        places = parts["diagnostics"]
        return errors.ProblemError([errors.Diagnostic(Path(p), *rest) for p, *rest in places])
    return kind(parts["text"])
