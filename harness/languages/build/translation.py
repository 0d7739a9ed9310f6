"""Translate a CUDA source for the CPU, in a limited process of its own.

A submission can make the translator's work grow faster than the text, and must not hold up the
judge with that.
"""

import os
import signal
import sys
from pathlib import Path
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from harness.errors import HarnessError, MachineError
from harness.sandbox import ROOT
from harness.sandbox.command import clean_environment, run_limited
from harness.text.system_errors import system_fault

MEMORY_BYTES = 2 << 30
SECONDS = 10.0
"""Limits of one translation, far above what honest files need: memory and wall time."""
ANSWER_BYTES = 64 << 10
FEATURE_CHARACTERS = 200

PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[1])
from harness.cudacpu import Unsupported, translate
answer = 0, ""
try:
    translated = translate(sys.stdin.buffer.read().decode("utf-8"), sys.argv[2])
    with open(sys.argv[3], "w", encoding="utf-8", newline="") as file:
        file.write(translated)
except Unsupported as unsupported:
    answer = unsupported.line, unsupported.feature
except (RecursionError, MemoryError):
    answer = 0, "so deep a nesting"
except OSError as error:
    answer = -1, str(error.errno)
sys.stdout.write(json.dumps(answer))
"""
_ANSWER = TypeAdapter(tuple[int, str])
"""Line and name of the feature that a CPU cannot execute; 0 and empty for none, -1 and the number
of the error if the file could not be written."""


class Translation(NamedTuple):
    """The outcome of a translation."""

    obstacle: str = ""
    """The feature that a CPU cannot execute, as ``name:line: feature``; empty for none."""
    stopped: bool = False
    """The translator was stopped: another time there may be no obstacle."""
    killed: bool = False
    """It was not stopped by a limit, but from outside."""


def translate_limited(text: str, *, name: str, folder: Path, output: str) -> Translation:
    """Write the translation of ``text``, a file called ``name``, to ``output`` in ``folder``.

    Raises:
        HarnessError: the translator fails.
        MachineError: it cannot write, as when the disk is full.
    """
    finished = run_limited(
        [sys.executable, "-I", "-S", "-c", PROGRAM, str(ROOT), name, output],
        cwd=folder,
        seconds=SECONDS,
        memory_bytes=MEMORY_BYTES,
        output_bytes=ANSWER_BYTES,
        environment=clean_environment(folder),
        readable=[ROOT / "harness" / "cudacpu"],
        stdin=text.encode(),
    )
    killed = finished.returncode == -signal.SIGKILL
    if finished.timed_out or finished.over_memory or (killed and finished.near_memory_limit):
        limit = f"{SECONDS:g} s" if finished.timed_out else f"{finished.memory_bytes >> 20} MiB"
        obstacle = "the source is too entangled to be translated"
        return Translation(f"{name}: {obstacle} within {limit}", stopped=True)
    if killed:
        return Translation(f"{name}: the translator was killed", stopped=True, killed=True)
    try:
        line, feature = _ANSWER.validate_json(finished.output, strict=True)
    except ValidationError:
        end = finished.output[-1000:].strip()
        raise HarnessError(f"the translator failed ({finished.returncode}): {end}") from None
    if line < 0:
        code = int(feature)
        failed = OSError(code, os.strerror(code), str(folder / output))
        raise system_fault(failed) or MachineError(f"the translator cannot write: {failed}")
    place = f"{name}:{line}" if line else name
    return Translation(f"{place}: {feature[:FEATURE_CHARACTERS]}" if feature else "")
