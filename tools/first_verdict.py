"""``python -m tools.first_verdict``: seconds from a clone to the first verdict of one's own file.

Two commands are timed, as a newcomer types them, in a new folder without a build cache or a store
of results: ``git clone`` and ``make check``. Packages come from where pip gets them.
"""

import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from harness.text.numbers import seconds

ROOT = Path(__file__).parents[1]
LIMIT_S = 60.0
PROBLEM = "vector-add"
_PATIENCE_S = 1800
_MINE = """__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    add<<<unsigned((n + 255) / 256), 256>>>(x, y, z, n);
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """How long a newcomer waits, in seconds."""

    clone_s: float
    """``git clone``."""
    setup_s: float
    """``make check`` until everything is installed."""
    verdict_s: float
    """``make check`` from then on."""
    cpu_s: float
    """What both commands computed, on all processors: it does not grow with other work there."""
    verdict: str
    """Its first word."""

    @property
    def total_s(self) -> float:
        """All of it."""
        return self.clone_s + self.setup_s + self.verdict_s


def measured(url: str, folder: Path) -> Timed:
    """The time that ``git clone URL`` and ``make check`` take in ``folder``, which is empty.

    Raises:
        RuntimeError: one of them fails, or takes longer than anyone waits; the message is what it
            said last.
    """
    file, clone = folder / "mine.cu", folder / "kernel-harness"
    file.write_text(_MINE)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.time()  # compared with the time of a file below
    _run("git", "clone", "--quiet", url, clone, folder=folder)
    cloned = time.time()
    check = ("make", "-C", clone, "--no-print-directory", "check")
    out = _run(*check, f"FILE={file}", f"PROBLEM={PROBLEM}", folder=folder)
    done = time.time()
    installed = (clone / ".venv/.installed").stat().st_mtime
    lines = [line for line in out.splitlines() if f"  {PROBLEM} · " in line]
    if not lines:
        raise RuntimeError(f"no verdict: {out[-500:]}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Timed(
        cpu_s=used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime,
        clone_s=cloned - start,
        setup_s=installed - cloned,
        verdict_s=done - installed,
        verdict=lines[0].split()[0],
    )


def _run(*command: object, folder: Path) -> str:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("HARNESS_")},
        "HARNESS_CACHE": str(folder / "cache"),
    }
    with subprocess.Popen(
        [str(word) for word in command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            said, _ = process.communicate(timeout=_PATIENCE_S)
        except BaseException as end:  # an interruption, too: nothing of it may go on
            os.killpg(process.pid, signal.SIGKILL)
            if not isinstance(end, subprocess.TimeoutExpired):
                raise
            said, _ = process.communicate()
            raise RuntimeError(
                f"{command[0]} was stopped after {_PATIENCE_S:g} s: {said[-2000:]}"
            ) from None
    if process.returncode:
        raise RuntimeError(f"{command[0]} ended with {process.returncode}: {said[-2000:]}")
    return said


def report(timed: Timed, limit_s: float) -> str:
    """The figures, and whether they are within the limit."""
    within = "within" if timed.total_s <= limit_s else "more than"
    return (
        f"git clone       {seconds(timed.clone_s)}\n"
        f"installed       {seconds(timed.setup_s)}\n"
        f"first verdict   {seconds(timed.verdict_s)}  {timed.verdict}\n"
        f"computing       {seconds(timed.cpu_s)} of processors\n"
        f"in all          {seconds(timed.total_s)}, {within} {seconds(limit_s)}"
    )


def main() -> int:
    """Measure and print; 0 within the limit, 1 if a newcomer waits longer, 2 without figures."""
    parser = argparse.ArgumentParser(prog="python -m tools.first_verdict", description=__doc__)
    parser.add_argument("--url", default=str(ROOT), help="what is cloned [default: this clone]")
    parser.add_argument("--limit", type=float, default=LIMIT_S, help="seconds")
    choices = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="first-verdict-") as folder:
        try:
            timed = measured(choices.url, Path(folder))
        except RuntimeError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
    print(report(timed, choices.limit))
    return 0 if timed.verdict == "ACCEPTED" and timed.total_s <= choices.limit else 1


if __name__ == "__main__":
    sys.exit(main())
