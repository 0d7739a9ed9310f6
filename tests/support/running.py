"""A command in a process of its own, which a signal ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from harness.sandbox import processes

ROOT = Path(__file__).parents[2]
HANGS_S = 120.0


def listen() -> None:
    """What a shell starts in the background is told to ignore Ctrl-C, and so is all below it."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Command:
    """A command in a process of its own, with a folder of its own for temporary files."""

    def __init__(
        self,
        folder: Path,
        *words: str,
        cwd: Path | None = None,
        program: str = "from harness.cli import main; main()",
    ) -> None:
        self.folder = folder / "tmp"
        self.folder.mkdir()
        self.errors = folder / "stderr"
        with self.errors.open("wb") as errors, (folder / "stdout").open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-c", program, *words],
                cwd=cwd or folder,
                env={**os.environ, "TMPDIR": str(self.folder), "PYTHONPATH": str(ROOT)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                preexec_fn=listen,
            )

    def below(self) -> list[int]:
        return processes.descendants(self.process.pid)

    def wait_for(self, there: Callable[[], object]) -> None:
        deadline = time.monotonic() + HANGS_S
        while not there():
            assert self.process.poll() is None, self.errors.read_text()
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def end(self, number: int) -> tuple[int, str]:
        """Its exit code and last words; nothing of it may be left."""
        below = self.below()
        self.process.send_signal(number)
        code = self.process.wait(HANGS_S)
        assert [path.name for path in self.folder.iterdir()] in ([], ["kernel-harness-locks"])
        deadline = time.monotonic() + 20
        while left := [pid for pid in below if Path(f"/proc/{pid}").exists()]:
            assert time.monotonic() < deadline, left
            time.sleep(0.02)
        return code, self.errors.read_text().strip()
