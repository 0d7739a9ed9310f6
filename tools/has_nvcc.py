#!/usr/bin/env python3
"""Exit 0 if a CUDA compiler can be found, 1 if not (used by make)."""

import sys

from harness.languages.build.toolchain import NvccNotFound, find_nvcc

try:
    find_nvcc()
except NvccNotFound:
    sys.exit(1)
