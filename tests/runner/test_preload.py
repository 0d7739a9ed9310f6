"""What is imported before runners are forked leaves a process that can be forked."""

import os
import subprocess
import sys

import pytest

PRELOADED = """
import os, sys
from harness.runner.preload import compiled
compiled()
from triton.runtime import driver
maps = open("/proc/self/maps").read()
print(len(os.listdir("/proc/self/task")), vars(driver), "libcuda.so" in maps)
print("triton.experimental.gluon" in sys.modules)
"""


@pytest.mark.corpus
def test_one_thread_and_no_driver() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PRELOADED],
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1 {'_default': None, '_active': None} False\nTrue\n"
