"""Translate a CUDA source for the CPU, in a limited process of its own.

The translator is our own code, but a submission can make its work grow faster than the text, and
must not hold up the judge with that.
"""

import signal
import sys
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

import harness
from harness.errors import HarnessError
from harness.sandbox.command import clean_environment, run_limited

MEMORY_BYTES = 2 << 30
SECONDS = 10.0
"""Limits of one translation, far above those of honest files: memory and wall time."""
ANSWER_BYTES = 64 << 10
FEATURE_CHARACTERS = 200

ROOT = Path(harness.__file__).resolve().parents[1]
PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[1])
from harness.cudacpu import Unsupported, translate
answer = {"line": 0, "feature": ""}
try:
    translated = translate(sys.stdin.buffer.read().decode("utf-8"), sys.argv[2])
    with open(sys.argv[3], "w", encoding="utf-8", newline="") as file:
        file.write(translated)
except Unsupported as unsupported:
    answer = {"line": unsupported.line, "feature": unsupported.feature}
except (RecursionError, MemoryError):
    answer["feature"] = "so deep a nesting"
sys.stdout.write(json.dumps(answer))
"""


class Translation(NamedTuple):
    """What stands in the way of a translation, if anything does."""

    obstacle: str = ""
    """The feature that a CPU cannot execute, as ``name:line: feature``; empty for none."""
    stopped: bool = False
    """The translator was stopped: another time there may be no obstacle."""
    killed: bool = False
    """It was not stopped by a limit, but by somebody else."""


class _TranslationAnswer(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    line: int
    feature: str


def translate_limited(text: str, *, name: str, folder: Path, output: str) -> Translation:
    """Write the translation of ``text``, a file called ``name``, to ``output`` in ``folder``.

    Raises:
        HarnessError: the translator fails.
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
    if finished.timed_out or finished.over_memory:
        return Translation(f"{name}: the source is too entangled to be translated", stopped=True)
    if finished.returncode == -signal.SIGKILL:
        return Translation(f"{name}: the translator was killed", stopped=True, killed=True)
    try:
        answer = _TranslationAnswer.model_validate_json(finished.output)
    except ValidationError:
        end = finished.output[-1000:].strip()
        raise HarnessError(f"the translator failed ({finished.returncode}): {end}") from None
    if not answer.feature:
        return Translation()
    place = f"{name}:{answer.line}" if answer.line else name
    return Translation(f"{place}: {answer.feature[:FEATURE_CHARACTERS]}")
