"""What the tests of building share."""

import pytest

from harness.solution.toolchain import NvccNotFound, find_nvcc


def _has_nvcc() -> bool:
    try:
        find_nvcc()
    except NvccNotFound:
        return False
    return True


needs_nvcc = pytest.mark.skipif(not _has_nvcc(), reason="no nvcc on this machine")
