import signal

import pytest

from harness.records.result import Verdict
from harness.session.fault import of_exit


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (0, "the process ended (exit status 0) before its work was done"),
        (127, "the process ended (exit status 127) before its work was done"),
        (128 + signal.SIGKILL, "was killed by SIGKILL (Killed)"),
        (128 + 100, "was killed by signal 100"),
    ],
)
def test_a_process_that_ended_is_at_fault(status: int, message: str) -> None:
    fault = of_exit(status)
    assert (fault.verdict, fault.message, fault.shared) == (Verdict.RUNTIME_ERROR, message, False)
