"""Triton without its GPU: interpreted, or compiled for a card that is not there.

A submission comes in; its outputs, or its kernels and their figures, go out.
"""
