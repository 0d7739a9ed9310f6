"""One target under libFuzzer, in its own process: ``tools.fuzzing.child TARGET FOLDER options…``.

Atheris instruments our readers (and PyYAML) while they are imported, so that inputs which reach new
branches are kept and changed further. An exception does not end the run: the first input of each
place that raises is kept in ``crashes``. An input that takes longer than libFuzzer's ``-timeout``,
or exhausts its memory limit, does end it.
"""

import hashlib
import json
import sys
import time
import traceback
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["harness", "leaderboard", "yaml"]):
    from tools.fuzzing.targets import TARGETS, Target

_SLOW_S = 10.0
"""Processor time from which on an input counts as a crash."""


class Catcher:
    """Runs the target, and notes what it raises."""

    def __init__(self, target: Target, folder: Path) -> None:
        self._target = target
        self._folder = folder
        self._crashes: dict[str, str] = {}

    def __call__(self, data: bytes) -> None:
        """One input."""
        begun = time.process_time()
        try:
            self._target.run(data)
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{type(error).__name__} at {frame.filename}:{frame.lineno}"
            self._keep(place, str(error)[:300], data)
        if (seconds := time.process_time() - begun) > _SLOW_S:
            self._keep("slow", f"{seconds:.0f} s", data)

    def _keep(self, place: str, message: str, data: bytes) -> None:
        if place not in self._crashes:
            self._crashes[place] = message
            name = hashlib.sha256(place.encode()).hexdigest()[:16]
            (self._folder / "crashes" / name).write_bytes(data)
            # At once: libFuzzer ends the process without asking us.
            (self._folder / "crashes.json").write_text(json.dumps(self._crashes))


def main() -> None:
    """Fuzz until libFuzzer's options say that it is enough."""
    name, place, *options = sys.argv[1:]
    target = next(each for each in TARGETS if each.name == name)
    folder = Path(place)
    for part in ("corpus", "crashes"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(target.seeds):
        (folder / "corpus" / f"seed-{number}").write_bytes(seed)
    words = folder / "words"
    words.write_text("".join(f'"{_quoted(word)}"\n' for word in target.words))
    arguments = [
        *options,
        f"-max_len={target.most}",
        f"-artifact_prefix={folder}/crashes/",
        *([f"-dict={words}"] if target.words else []),
        str(folder / "corpus"),
    ]
    atheris.Setup([sys.argv[0], *arguments], Catcher(target, folder))
    atheris.Fuzz()


def _quoted(word: str) -> str:
    """A word as libFuzzer's dictionaries spell it."""
    data = word.encode("utf-8", "surrogateescape")
    return "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\x{b:02x}" for b in data)


if __name__ == "__main__":
    main()
