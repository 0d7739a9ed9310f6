"""A judge for GPU kernels whose verdicts cannot be influenced by what it judges.

``__all__`` is what other programs may rely on (docs/how-to/rewards.md); each name is imported when
it is first used.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.door.judge import Graded, Judge, agrade, grade
    from harness.errors import (
        HarnessError,
        JudgeError,
        MachineError,
        NoDeviceError,
        ProblemError,
        UsageError,
    )
    from harness.records.result import Result, Verdict

__all__ = [
    "Graded",
    "HarnessError",
    "Judge",
    "JudgeError",
    "MachineError",
    "NoDeviceError",
    "ProblemError",
    "Result",
    "UsageError",
    "Verdict",
    "__version__",
    "agrade",
    "grade",
]

_PLACES = {
    "harness.door.judge": ("Graded", "Judge", "agrade", "grade"),
    "harness.errors": (
        "HarnessError",
        "JudgeError",
        "MachineError",
        "NoDeviceError",
        "ProblemError",
        "UsageError",
    ),
    "harness.records.result": ("Result", "Verdict"),
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    for place, names in _PLACES.items():
        if name in names:
            return getattr(import_module(place), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
