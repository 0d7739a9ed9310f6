"""What this process must be allowed before anything is graded.

Under smaller limits a grade breaks in the middle, at places that have nothing to do with them: a
compiler dies, a library ends the process, a reference seems to be wrong.
"""

import resource
import threading

from harness.errors import MachineError
from harness.text.numbers import bytes_
from harness.text.system_errors import machine_fault

OPEN_FILES = 64
FILE_BYTES = 64 << 20
THREADS = 8


def require_limits() -> None:
    """Look at the limits of open files, sizes of files, and processes.

    Raises:
        MachineError: one is too small; with the remedy.
    """
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if files != resource.RLIM_INFINITY and files < OPEN_FILES:
        raise MachineError(
            f"a process may have {files} open files here, and grading needs {OPEN_FILES}: raise "
            "the limit (ulimit -n 1024)"
        )
    size = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if size != resource.RLIM_INFINITY and size < FILE_BYTES:
        raise MachineError(
            f"a process may write files of {bytes_(size)} here, and grading needs "
            f"{bytes_(FILE_BYTES)}: raise the limit (ulimit -f unlimited)"
        )
    _require_threads()


def _require_threads() -> None:
    """Start some threads at once, as the libraries will."""
    done = threading.Event()
    started = []
    try:
        for _ in range(THREADS):
            thread = threading.Thread(target=done.wait, daemon=True)
            thread.start()
            started.append(thread)
    except RuntimeError as error:
        raise machine_fault(error) or error from error
    finally:
        done.set()
        for thread in started:
            thread.join()
