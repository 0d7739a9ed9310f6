"""What the tests of building share."""

import pytest

needs_nvcc = pytest.mark.nvcc
"""Skipped, with its reason, where there is no CUDA compiler (tests/conftest.py)."""
