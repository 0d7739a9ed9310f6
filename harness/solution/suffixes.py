"""The extensions of the files that are submissions: one per language family, named once."""

CUDA = ".cu"
PTX = ".ptx"
PYTHON = ".py"
SOURCES = (CUDA, PTX, PYTHON)
"""CUDA C++, PTX, and Python with whatever it imports."""

NAMED = ", ".join(SOURCES[:-1]) + f" or {SOURCES[-1]}"
"""The same in words."""
