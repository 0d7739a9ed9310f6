# Reads where nothing is.
# threat: segmentation fault
# problem: vector-add
# verdict: runtime_error

import ctypes


def solution(x, y, z, n):
    ctypes.string_at(8)
