"""Whether a framework works on this machine at all: it is imported, without any submission.

Half of a package, or one that does not go with the NumPy beside it, fails in whatever a submission
calls first, and looks like the submission's own error. So a process with the environment of a
runner imports the framework alone, before; what a submission raises has no part in the answer.
"""

import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from functools import cache

from harness.frameworks import TOGETHER, Framework
from harness.sandbox import ROOT, scratch
from harness.sandbox.support import search_path
from harness.session.programs import RunnerProgram
from harness.session.start_runner import CACHES, runner_environment
from harness.text.plain import plain

IMPORT_S = 60.0

_TRY = """
import os, sys
name, root, *path = sys.argv[1:]
sys.path.insert(0, root)
from harness.frameworks import FRAMEWORKS
sys.path[:] = path
try:
    FRAMEWORKS[name].load()
except ImportError as error:
    print("", error, sep="\\n", file=sys.stderr, flush=True)
    os._exit(1)
os._exit(0)  # how it takes itself apart is not asked
"""

_asking = threading.Lock()


@dataclass(frozen=True, slots=True)
class ImportFault:
    """Why a framework that is installed cannot be imported."""

    reason: str
    remedy: str
    certain: bool = True
    """False where a busy machine would explain it as well."""


def import_fault(framework: Framework) -> ImportFault | None:
    """Import ``framework`` in a process of its own; None if that works."""
    with tempfile.TemporaryDirectory(prefix="import-", dir=scratch.home()) as folder:
        command = [sys.executable, "-I", "-S", "-c", _TRY, framework.name, str(ROOT)]
        own = dict.fromkeys((*CACHES, "HOME", "TMPDIR"), folder)
        try:
            done = subprocess.run(
                [*command, *search_path()],
                cwd=folder,
                env={**runner_environment(RunnerProgram(kind="python")), **own},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                timeout=IMPORT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            reason = f"importing {framework.title} takes more than {IMPORT_S:g} s"
            return ImportFault(reason, framework.remedy, certain=False)
    if done.returncode == 0:
        return None
    if done.returncode < 0:
        number = -done.returncode
        reason = (
            f"importing {framework.title} crashes: {signal.strsignal(number) or f'signal {number}'}"
        )
        return ImportFault(reason, framework.remedy, certain=number != signal.SIGKILL)
    silent = f"importing {framework.title} ends the process, for no reason that it says"
    complaint = plain((done.stderr.strip().splitlines() or [silent])[-1])
    remedy = TOGETHER if complaint.endswith(TOGETHER) else framework.remedy
    return ImportFault(complaint.removesuffix(f": {remedy}")[:400], remedy)


def known_fault(framework: Framework) -> ImportFault | None:
    """Why no submission in ``framework`` can run here; None if one may.

    Asked once in the life of this process.
    """
    with _asking:
        return _asked(framework)


@cache
def _asked(framework: Framework) -> ImportFault | None:
    fault = import_fault(framework)
    return fault if fault is not None and fault.certain else None  # else a runner will see
