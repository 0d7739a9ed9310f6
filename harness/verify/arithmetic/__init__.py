"""Emulated arithmetic: what a reference gives on a machine of less precision than float64.

In comes a reference written in torch, and an :class:`~.model.ArithmeticModel` (formats, order of
summation, truncation). Out comes its result, in float64 tensors that hold what the machine can.

The set of known operations (:mod:`.operations`) is not meant to grow with each problem. Any other
is done in float64 and its result rounded; if it may sum, ``harness verify`` warns that its rounding
is not known.
"""
