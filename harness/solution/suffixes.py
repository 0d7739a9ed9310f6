"""The extensions of the files that are submissions: one per language family, named once."""

SOURCES = (".cu", ".ptx", ".py")
"""CUDA C++, PTX, and Python with whatever it imports."""

NAMED = ", ".join(SOURCES[:-1]) + f" or {SOURCES[-1]}"
"""The same in words."""
